import { type PetStatus, petStatuses } from "../ledger/inventory.ts";
import { createSlots } from "./slots.ts";

/**
 * The state of every pet after the ledger was replayed, and the tables that contain the pet. Each
 * pet has a slot in typed arrays, 50 bytes in all. A Map with an object per pet took more than ten
 * times as much.
 */
export interface PetStates {
  /** The pet's slot. A new pet gets an empty one. */
  slotOf(petId: bigint): number;
  petIdOf(slot: number): bigint;
  /** The number of slots. They are numbered from 0. */
  count(): number;
  /** The `seq` of the pet's last ledger row, or 0. */
  seqOf(slot: number): number;
  /** Quantity and status after that row; both null if there is no entry. */
  quantityOf(slot: number): number | null;
  statusOf(slot: number): string | null;
  set(slot: number, seq: number, quantity: number | null, status: unknown): void;
  /** Marks the pet as part of a table. Returns true if it already was. */
  mark(slot: number, table: Mark): boolean;
  has(slot: number, table: Mark): boolean;
}

export type Mark = "entry" | "pet";
const bits: Record<Mark, number> = { entry: 1, pet: 2 };

/** Statuses as numbers. 0 is null. An invalid status has already been noted as a fault. */
const statuses: readonly (PetStatus | null | "invalid")[] = [null, ...petStatuses, "invalid"];
const initialSlots = 1_024;

export function createPetStates(): PetStates {
  const slots = createSlots();
  let seqs = new Float64Array(initialSlots);
  let quantities = new Float64Array(initialSlots);
  let statusCodes = new Uint8Array(initialSlots);
  let marks = new Uint8Array(initialSlots);

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
    set(slot, seq, quantity, status) {
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

/** A stock as messages show it. */
export function stockText(quantity: number | null, status: unknown): string {
  return quantity === null && status === null ? "nothing" : `${quantity} ${status}`;
}
