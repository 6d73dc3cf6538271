import { type PetStatus, petStatuses } from "../inventory.ts";
import { createSlots } from "./slots.ts";

/**
 * The inventory that results from the ledger, and which tables know each pet. Each pet has a slot
 * in arrays of plain numbers, 50 bytes in all: a Map with an object for each pet took more than ten
 * times as much.
 */
export interface Fold {
  /** The pet's slot; a pet met for the first time gets one in which nothing is known. */
  slotOf(petId: bigint): number;
  petIdOf(slot: number): bigint;
  /** How many slots there are, numbered from 0. */
  count(): number;
  /** The pet's last ledger row; 0 where there is none. */
  seqOf(slot: number): number;
  /** What that row left: a quantity and a status, or both null. */
  quantityOf(slot: number): number | null;
  statusOf(slot: number): string | null;
  leave(slot: number, seq: number, quantity: number | null, status: unknown): void;
  /** Notes that a table has the pet; true if it was noted before. */
  mark(slot: number, table: Mark): boolean;
  has(slot: number, table: Mark): boolean;
}

export type Mark = "entry" | "pet";
const bits: Record<Mark, number> = { entry: 1, pet: 2 };

/** Statuses as numbers. 0 is null; a text that is no status has already been noted as a fault. */
const statuses: readonly (PetStatus | null | "invalid")[] = [null, ...petStatuses, "invalid"];
const slotsAtFirst = 1_024;

export function createFold(): Fold {
  const slots = createSlots();
  let seqs = new Float64Array(slotsAtFirst);
  let quantities = new Float64Array(slotsAtFirst);
  let statusCodes = new Uint8Array(slotsAtFirst);
  let marks = new Uint8Array(slotsAtFirst);

  function grow(): void {
    const length = 2 * seqs.length;
    seqs = enlarged(seqs, new Float64Array(length));
    quantities = enlarged(quantities, new Float64Array(length));
    statusCodes = enlarged(statusCodes, new Uint8Array(length));
    marks = enlarged(marks, new Uint8Array(length));
  }

  return {
    slotOf(petId) {
      const known = slots.count;
      const slot = slots.slotOf(petId);
      if (slot < known) return slot;
      if (slot === seqs.length) grow();
      quantities[slot] = Number.NaN;
      return slot;
    },
    petIdOf: slots.idOf,
    count: () => slots.count,
    seqOf: (slot) => seqs[slot]!,
    quantityOf: (slot) => (Number.isNaN(quantities[slot]) ? null : quantities[slot]!),
    statusOf: (slot) => statuses[statusCodes[slot]!]!,
    leave(slot, seq, quantity, status) {
      seqs[slot] = seq;
      quantities[slot] = quantity ?? Number.NaN;
      const code = statuses.indexOf(status as PetStatus | null);
      statusCodes[slot] = code < 0 ? statuses.length - 1 : code;
    },
    mark(slot, table) {
      const before = marks[slot]!;
      marks[slot] = before | bits[table];
      return (before & bits[table]) !== 0;
    },
    has: (slot, table) => (marks[slot]! & bits[table]) !== 0,
  };
}

function enlarged<T extends Float64Array | Uint8Array>(from: T, to: T): T {
  to.set(from);
  return to;
}

/** A stock in words, for messages and for comparing. */
export function stockText(quantity: number | null, status: unknown): string {
  return quantity === null && status === null ? "nothing" : `${quantity} ${status}`;
}
