import { type Actor, auditEntry } from "../audit/audit.ts";
import { initialValues, type PetDetails, petFields } from "../catalogue/pet-fields.ts";
import { type AddedRow, newPetStock, type Pet } from "../catalogue/pets.ts";
import { type Entry, petNotFound, type Stock } from "../ledger/inventory.ts";
import { InvalidField, ServiceError, unavailable } from "../running/errors.ts";
import { isReason, reasonRule } from "../values/texts.ts";
import type { Shop } from "./shop.ts";

/** Creating, changing and removing single pets. An import does the same for many. */

type PetShop = Pick<Shop, "store" | "head" | "clock">;

/** Adds a pet with its entry, and returns both. Throws `already_exists` if the id or the barcode is taken. */
export async function createPet(
  shop: PetShop,
  actor: Actor,
  { petId, ...given }: Pick<Pet, "petId"> & Partial<PetDetails & Stock>,
  reason: string | null,
): Promise<Pet & Entry> {
  const pet = { petId, ...withDefaults(given), ...newPetStock, ...given };
  checkReason(reason);
  const created = await shop.store.catalogue.createPet(pet, { cause: "console", ...actor, reason });
  if (created.kind === "exists") throw new ServiceError("already_exists", petExists(petId));
  announce(shop, created);
  return { ...pet, version: created.row.seq };
}

/** Fields that are not given get the same values as in an import. */
function withDefaults(given: Partial<PetDetails>): PetDetails {
  const details: Record<string, unknown> = {};
  for (const { name, kind } of petFields) {
    details[name] = given[name] ?? initialValues[kind];
    if (details[name] === undefined) throw new InvalidField(name, "is required");
  }
  return details as PetDetails;
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
  const { keyId, requestId } = actor;
  const origin = { cause: "console", keyId, requestId, reason } as const;
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
  for (let attempt = 0; attempt < attemptsMax; attempt++) {
    const pet = await catalogue.findPet(petId);
    if (!pet) throw new ServiceError("not_found", petNotFound);
    const changed = { ...pet, ...changes };
    const details = differences(pet, changed);
    if (Object.keys(details).length === 0) return;
    const entry = auditEntry({ actor, now: clock.now() }, "pet.changed", String(petId), details);
    // Another operator may have changed the pet in the meantime. The old values are then other ones.
    if (await catalogue.changePet(petId, pet, changed, entry)) return;
  }
  throw unavailable("busy");
}

/** Changes of one pet at the same time. Each attempt fails only if another change succeeded. */
const attemptsMax = 20;

function differences(before: PetDetails, after: PetDetails): Record<string, unknown> {
  const details: Record<string, unknown> = {};
  for (const { name } of petFields) {
    const [from, to] = [before[name], after[name]];
    if (JSON.stringify(from) === JSON.stringify(to)) continue;
    details[name] = { from: shortened(from), to: shortened(to) };
  }
  return details;
}

/** Items of a list that the audit log keeps. A pet can have a hundred long ones. */
const itemsKept = 10;
const charactersKept = 100;

function shortened(value: PetDetails[keyof PetDetails]): unknown {
  if (!Array.isArray(value)) return value;
  const kept = value
    .slice(0, itemsKept)
    .map((item) => item.slice(0, charactersKept).toWellFormed());
  return value.length > itemsKept ? [...kept, `… and ${value.length - itemsKept} more`] : kept;
}

function checkReason(reason: string | null): void {
  if (reason !== null && !isReason(reason)) throw new InvalidField("reason", reasonRule);
}
