import { applyUnits, isQuantity } from "../../domain/ledger/append.ts";
import { sourceText } from "../../domain/ledger/chain.ts";
import { storedKeysOf } from "../../domain/ledger/idempotency.ts";
import type { Entry, PetStatus } from "../../domain/ledger/inventory.ts";
import type { Committed, Outcome, Unit } from "../../domain/ledger/ledger.ts";
import { integerArray } from "./engine/arrays.ts";
import { isLockTimeout, isUnconfirmed, UnknownOutcome } from "./engine/failures.ts";
import type { Rows, Session } from "./engine/session.ts";
import type { Epochs } from "./epochs.ts";
import type { IdempotencyMemory } from "./idempotency.ts";

/** What commits share. */
export interface CommitParts {
  readonly epochs: Epochs;
  readonly idempotency: IdempotencyMemory;
}

/**
 * Whether the units only set the quantity of one pet each, whatever it is now, for the same cause.
 * Nearly all updates do. The database rejects one only if its pet does not exist.
 */
export function arePlainUpdates(units: readonly Unit[]): boolean {
  const { cause: common } = units[0]!;
  return units.every(({ changes, cause, keyId, requestId, isDryRun }) => {
    const { kind, amount, expected, status, reason } = changes[0]!;
    const isPlain = kind === "set" && expected === undefined && status === undefined;
    if (!isPlain || changes.length > 1 || cause !== common || !isQuantity(amount)) return false;
    if (isDryRun) return false;
    return isLine(keyId) && isLine(requestId) && isLine(reason);
  });
}

/** Whether a text can be sent as a line. An empty line is null. */
function isLine(text: string | null): boolean {
  return text === null || (text !== "" && !text.includes("\n"));
}

/** The procedure is part of the schema. */
const callText = `CALL petstore_set_quantities($1::int8, $2::int8, $3::int8, $4::int8,
  $5::int8[], $6::int8[], $7::int4[], $8::text, $9::text, $10::text, $11::text, $12::text, $13::int8,
  $14::bytea, NULL::int8, NULL::int8, NULL::text, NULL::text, NULL::text, NULL::text, NULL::int8)`;

/**
 * How long a call may wait, on its way and for the head. Long enough for a busy server, and short, because
 * the clients of a lost connection get their response after it. What waited longer is committed again.
 */
export const callMsMax = 700;

/** How far the server's clock may be from what is known of it, unless somebody sets it. */
const clockErrorMs = 200;

/** The terms on which a group is committed. */
export interface CommitTerms {
  /** The time of the rows. The database's if it is null. */
  readonly now: number | null;
  /**
   * By `performance.now()`. Nothing is stored unless the head was locked before, because the callers
   * get a response soon after.
   */
  readonly giveUpAt: number;
}

/**
 * Commits plain updates in one round trip: the database applies them itself. Returns undefined, with
 * nothing stored, if that is not possible: the epoch or the time of the server is not known, an
 * idempotency key may have been used before, or the server did not get the head in time.
 *
 * The database checks, with the head locked, that it is not too late. If the connection is lost, the
 * database may still work on the call. So this rejects only when it is too late: a client that has a
 * response may send its next update on another way.
 */
export async function commitPlainUpdates(
  session: Session,
  { epochs, idempotency }: CommitParts,
  units: readonly Unit[],
  terms: CommitTerms,
): Promise<Committed | undefined> {
  const timeline = epochs.recordedTimeline;
  const serverTime = session.clock.least(timeline);
  const hasIdempotency = units.some(({ idempotency }) => idempotency);
  const newKeys = hasIdempotency ? idempotency.newKeys(units, timeline) : undefined;
  if (timeline === 0 || serverTime === undefined || !session.isReadCommitted) return undefined;
  if (hasIdempotency && !newKeys) return undefined;
  const sentAt = performance.now();
  const callMs = Math.min(callMsMax, terms.giveUpAt - sentAt);
  const values = [
    Math.floor(serverTime - clockErrorMs),
    Math.floor(serverTime + callMs),
    terms.now,
    timeline,
    ...columnsOf(units),
    newKeys?.after ?? null,
    newKeys?.records ?? null,
  ];
  let result: Rows[0] | undefined;
  try {
    [result] = await session.query(callText, values);
  } catch (error) {
    if (isLockTimeout(error)) return undefined;
    if (!isUnconfirmed(error)) throw error;
    await Bun.sleep(Math.max(0, sentAt + callMs + clockErrorMs - performance.now()));
    throw new UnknownOutcome(error);
  }
  session.clock.saw(Number(result!.at(-1)), timeline);
  const [seq, at, storeEpoch] = result!;
  const entries = entriesOf(units, result!);
  if (!entries) {
    if (hasIdempotency && storeEpoch !== null) idempotency.wasBehind();
    return undefined;
  }
  if (seq === null) {
    session.confirm(timeline);
    const known = (some: readonly Unit[]) =>
      commitPlainUpdates(session, { epochs, idempotency }, some, terms);
    return withoutUnknownPets(units, entries, known);
  }
  confirmStored(session, timeline);
  const state = {
    epoch: epochs.nameOf(storeEpoch as string, timeline),
    tip: { seq: Number(seq), at: Number(at) },
    entries,
    remembered: new Map(),
    epochOf: () => undefined,
  };
  const added = applyUnits(state, units, state.tip.at);
  if (added.usedKeys.length > 0) idempotency.committed(storedKeysOf(added));
  return added;
}

/** A server that was replaced meanwhile may have committed what its successor will never have. */
export function confirmStored({ confirm }: Session, timeline: number): void {
  try {
    confirm(timeline);
  } catch (error) {
    throw new UnknownOutcome(error);
  }
}

/** Nothing was stored, because some pets have no entry. Stores the updates of the others. */
async function withoutUnknownPets(
  units: readonly Unit[],
  entries: Map<bigint, Entry>,
  commitKnown: (known: readonly Unit[]) => Promise<Committed | undefined>,
): Promise<Committed | undefined> {
  const isKnown = ({ changes }: Unit) => entries.has(changes[0]!.petId);
  const known = units.filter(isKnown);
  const committed =
    known.length === 0 ? { epoch: "", rows: [], outcomes: [] } : await commitKnown(known);
  if (!committed) return undefined;
  const stored = committed.outcomes.values();
  const outcomes = units.map((unit) => (isKnown(unit) ? stored.next().value! : notFound));
  return { ...committed, outcomes };
}

const notFound: Outcome = {
  kind: "rejected",
  reason: "not_found",
  index: 0,
  current: undefined,
  epoch: undefined,
};

/** The entries as they were before the group, or undefined if the procedure did not read them. */
function entriesOf(units: readonly Unit[], result: Rows[0]): Map<bigint, Entry> | undefined {
  const [, , , quantities, statuses, versions] = result as (string | null)[];
  if (quantities == null) return undefined;
  const [quantityTexts, statusTexts, versionTexts] = [quantities, statuses!, versions!].map(
    (list) => list.split(","),
  ) as [string[], string[], string[]];
  const entries = new Map<bigint, Entry>();
  for (let at = 0; at < units.length; at++) {
    const { petId } = units[at]!.changes[0]!;
    // A later update of the same pet starts from the one before it.
    if (statusTexts[at] === "" || entries.has(petId)) continue;
    entries.set(petId, {
      petId,
      quantity: Number(quantityTexts[at]),
      status: statusTexts[at] as PetStatus,
      version: Number(versionTexts[at]),
    });
  }
  return entries;
}

/** The parameters from the pets to the sources. */
function columnsOf(units: readonly Unit[]): (string | null)[] {
  const petIds: bigint[] = [];
  const amounts: number[] = [];
  const keyIds: string[] = [];
  const requestIds: string[] = [];
  const reasons: string[] = [];
  const sources: string[] = [];
  let hasReasons = false;
  for (const { changes, cause, keyId, requestId } of units) {
    const { petId, amount, reason } = changes[0]!;
    petIds.push(petId);
    amounts.push(amount);
    keyIds.push(keyId ?? "");
    requestIds.push(requestId ?? "");
    reasons.push(reason ?? "");
    sources.push(sourceText(cause, keyId, requestId, reason));
    hasReasons ||= reason !== null;
  }
  return [
    integerArray(petIds),
    integerArray(amounts),
    earlierArray(petIds),
    units[0]!.cause,
    keyIds.join("\n"),
    requestIds.join("\n"),
    hasReasons ? reasons.join("\n") : null,
    sources.join("\n"),
  ];
}

/** The last index, from 1, at which each pet was named before; null if no pet is named twice. */
function earlierArray(petIds: readonly bigint[]): string | null {
  if (new Set(petIds).size === petIds.length) return null;
  const last = new Map<bigint, number>();
  const earlier = petIds.map((petId, at) => {
    const before = last.get(petId) ?? null;
    last.set(petId, at + 1);
    return before;
  });
  return integerArray(earlier);
}
