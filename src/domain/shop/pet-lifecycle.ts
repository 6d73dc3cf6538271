import { type Actor, auditEntry } from "../audit/audit.ts";
import { listRule, textRule } from "../catalogue/imports.ts";
import { type AddedRow, newPetStock, type Pet, type PetDetails } from "../catalogue/pets.ts";
import { type Entry, petNotFound, type Stock } from "../ledger/inventory.ts";
import { InvalidField, ServiceError, unavailable } from "../running/errors.ts";
import { isReason, reasonRule } from "../values/texts.ts";
import type { Shop } from "./shop.ts";

/** Creating, changing and removing single pets. An import does the same for many. */

type PetShop = Pick<Shop, "store" | "head" | "clock">;

/** A pet to create. What is not given has the same defaults as in an import. */
export interface NewPet extends Partial<PetDetails & Stock> {
  readonly petId: bigint;
}

/** Adds a pet with its entry, and returns both. Throws `already_exists` if the id is taken. */
export async function createPet(
  shop: PetShop,
  actor: Actor,
  { petId, ...given }: NewPet,
  reason: string | null,
): Promise<Pet & Entry> {
  checkDetails(given);
  if (given.name === undefined) throw new InvalidField("name", "is required");
  checkReason(reason);
  const { name, category = null, tags = [], photoUrls = [] } = given;
  const { quantity = newPetStock.quantity, status = newPetStock.status } = given;
  const pet: Pet = { petId, name, category, tags, photoUrls, quantity, status };
  const created = await shop.store.catalogue.createPet(pet, { cause: "console", ...actor, reason });
  if (created.kind === "exists") throw new ServiceError("already_exists", petExists(petId));
  announce(shop, created);
  return { ...pet, version: created.row.seq };
}

export function petExists(petId: bigint): string {
  return `Pet ${petId} is in the store already.`;
}

/**
 * Removes a pet with its entry. Returns the entry, and changes nothing, if it is not at the expected
 * version.
 */
export async function removePet(
  shop: PetShop,
  actor: Actor,
  petId: bigint,
  expectedVersion: number | undefined,
  reason: string | null,
): Promise<{ readonly current: Entry } | undefined> {
  checkReason(reason);
  const origin = { cause: "console", ...actor, reason } as const;
  const removed = await shop.store.catalogue.removePet(petId, expectedVersion, origin);
  if (removed.kind === "not_found") throw new ServiceError("not_found", petNotFound);
  if (removed.kind === "mismatch") return { current: removed.current };
  announce(shop, removed);
  return undefined;
}

/** The list and the feed of this process learn of the row at once. */
function announce({ head }: PetShop, { row, epoch }: AddedRow): void {
  head.committed([row], epoch);
}

/** Changes what is given and differs. The audit log has the old and the new values. */
export async function changePet(
  { store: { catalogue }, clock }: PetShop,
  actor: Actor,
  petId: bigint,
  changes: Partial<PetDetails>,
): Promise<void> {
  checkDetails(changes);
  for (let attempt = 0; attempt < attemptsMax; attempt++) {
    const pet = await catalogue.findPet(petId);
    if (!pet) throw new ServiceError("not_found", petNotFound);
    const changed = withChanges(pet, changes);
    const details = differences(pet, changed);
    if (Object.keys(details).length === 0) return;
    const entry = auditEntry(actor, clock.now(), "pet.changed", String(petId), details);
    // Another operator may have changed the pet in the meantime. The old values are then other ones.
    if (await catalogue.changePet(petId, pet, changed, entry)) return;
  }
  throw unavailable("busy");
}

/** Changes of one pet at the same time. Each attempt fails only if another change succeeded. */
const attemptsMax = 20;

/** A field that is undefined stays as it is. */
function withChanges(pet: PetDetails, changes: Partial<PetDetails>): PetDetails {
  const { name = pet.name, category = pet.category } = changes;
  const { tags = pet.tags, photoUrls = pet.photoUrls } = changes;
  return { name, category, tags, photoUrls };
}

function differences(before: PetDetails, after: PetDetails): Record<string, unknown> {
  const details: Record<string, unknown> = {};
  for (const field of ["name", "category", "tags", "photoUrls"] as const) {
    const [from, to] = [before[field], after[field]];
    if (JSON.stringify(from) === JSON.stringify(to)) continue;
    details[field] = { from: shortened(from), to: shortened(to) };
  }
  return details;
}

/** Items of a list that the audit log keeps. A pet can have a hundred long ones. */
const itemsKept = 10;
const charactersKept = 100;

function shortened(value: string | null | readonly string[]): unknown {
  if (value === null || typeof value === "string") return value;
  const kept = value
    .slice(0, itemsKept)
    .map((item) => item.slice(0, charactersKept).toWellFormed());
  return value.length > itemsKept ? [...kept, `… and ${value.length - itemsKept} more`] : kept;
}

function checkDetails({ name, category, tags, photoUrls }: Partial<PetDetails>): void {
  const rules = [
    ["name", name, textRule],
    ["category", category ?? undefined, textRule],
    ["tags", tags, listRule],
    ["photoUrls", photoUrls, listRule],
  ] as const;
  for (const [field, value, rule] of rules) {
    if (value !== undefined && rule.read(value) === undefined) {
      throw new InvalidField(field, rule.text);
    }
  }
}

function checkReason(reason: string | null): void {
  if (reason !== null && !isReason(reason)) throw new InvalidField("reason", reasonRule);
}
