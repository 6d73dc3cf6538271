import { petStatuses, quantityMax } from "../ledger/inventory.ts";
import { causes } from "../ledger/ledger.ts";
import { InvalidField } from "../running/errors.ts";
import { parseInt64 } from "../values/int64.ts";
import { checkChoice, checkName } from "../values/texts.ts";
import type { Webhook, WebhookFilter } from "./webhook.ts";

/**
 * What an operator chooses for a new webhook. Callers convert text to numbers and pass NaN for text
 * that is not a number. No rule accepts NaN, so the error names the rule in either case.
 */
export interface WebhookTerms {
  readonly url: string;
  /** The host of the address if undefined. */
  readonly name?: string | undefined;
  /** Ids of pets, in decimal. */
  readonly pets?: readonly string[] | undefined;
  readonly statuses?: readonly string[] | undefined;
  readonly causes?: readonly string[] | undefined;
  readonly below?: number | undefined;
  readonly becomesLow?: boolean | undefined;
  /** The `seq` of the first change to deliver. If undefined, the next one that is stored. */
  readonly from?: number | undefined;
}

export const urlCharactersMax = 2_048;
export const petsMax = 1_000;

/** Checks what needs neither the network nor the store. Throws InvalidField for the first broken rule. */
export function checkTerms(terms: WebhookTerms): Pick<Webhook, "name" | "filter"> {
  // The sender has checked the URL. The name is logged, so it has no path, which may contain a secret.
  const name = checkName(terms.name ?? URL.parse(terms.url)?.host ?? "");
  return { name, filter: checkFilter(terms) };
}

function checkFilter(terms: Omit<WebhookTerms, "url">): WebhookFilter {
  const { pets, statuses, causes: wanted, below, becomesLow = false } = terms;
  return {
    pets: pets === undefined ? null : checkPets(pets),
    statuses: statuses === undefined ? null : checkChoice("statuses", statuses, petStatuses),
    causes: wanted === undefined ? null : checkChoice("causes", wanted, causes),
    below: below === undefined ? null : checkBelow(below),
    becomesLow,
  };
}

/** Whether a filter, as a store has it, follows the rules above. */
export function isStoredFilter(text: string): boolean {
  try {
    const { pets, statuses, causes: wanted, below, becomesLow = false } = JSON.parse(text);
    const given = { pets, statuses, causes: wanted, below };
    checkFilter(Object.fromEntries(Object.entries(given).filter(([, value]) => value !== null)));
    // An id that is a number may be a rounded one.
    const isExact = pets === null || pets.every((id: unknown) => typeof id === "string");
    return isExact && !Object.values(given).includes(undefined) && typeof becomesLow === "boolean";
  } catch {
    return false;
  }
}

/**
 * The URL as the audit log has it: without path and query, which may contain a secret. A webhook can be
 * deleted, but its rows in the log stay.
 */
export function withoutSecrets(url: string): string {
  const origin = URL.parse(url)?.origin ?? "";
  return url === origin || url === `${origin}/` ? url : `${origin}/…`;
}

function checkPets(texts: readonly string[]): readonly bigint[] {
  const ids = new Set(texts.map(parseInt64));
  if (ids.size >= 1 && ids.size <= petsMax && !ids.has(undefined)) return [...ids] as bigint[];
  throw new InvalidField(
    "pets",
    `must list 1 to ${petsMax} ids of pets, which are 64-bit integers`,
  );
}

/** No quantity is below 0, so a webhook with `below` 0 would never receive anything. */
function checkBelow(below: number): number {
  if (Number.isSafeInteger(below) && below >= 1) return below;
  throw new InvalidField("below", `must be an integer from 1 to ${quantityMax}`);
}

/** Checks the first change to deliver, for a ledger that ends at `headSeq`. */
export function checkFrom(from: number, headSeq: number): number {
  if (Number.isSafeInteger(from) && from >= 1 && from <= headSeq + 1) return from;
  const rule = `must be the number of a change, from 1 to ${headSeq + 1} (the next change)`;
  throw new InvalidField("from", rule);
}
