import { type PetStatus, petStatuses } from "../ledger/inventory.ts";
import { createSlots, type Slots } from "./slots.ts";

/** A pet after its last ledger row. */
export interface PetState {
  /** The `seq` of that row, or 0. */
  readonly seq: number;
  /** Both are null if there is no entry. */
  readonly quantity: number | null;
  readonly status: string | null;
}

/**
 * The state of every pet after the ledger was replayed, and the tables that contain the pet. Each
 * pet has a slot in typed arrays, 50 bytes in all. A Map with an object per pet took more than ten
 * times as much. A new pet has an empty slot.
 */
export interface PetStates extends Slots {
  at(slot: number): PetState;
  set(slot: number, seq: number, quantity: number | null, status: unknown): void;
  /** Marks the pet as part of a table. Returns true if it already was. */
  mark(slot: number, table: Mark): boolean;
  has(slot: number, table: Mark): boolean;
}

type Mark = "entry" | "pet" | "removal";
const bits: Record<Mark, number> = { entry: 1, pet: 2, removal: 4 };

/** Statuses as numbers. 0 is null. An invalid status has already been noted as a fault. */
const statuses: readonly (PetStatus | null | "invalid")[] = [null, ...petStatuses, "invalid"];
const initialSlots = 1_024;

export function createPetStates(): PetStates {
  const slots = createSlots();
  let seqs = new Float64Array(initialSlots);
  /** NaN if there is no entry. */
  let quantities = new Float64Array(initialSlots).fill(Number.NaN);
  let statusCodes = new Uint8Array(initialSlots);
  let marks = new Uint8Array(initialSlots);

  function grow(): void {
    const length = 2 * seqs.length;
    seqs = enlarged(seqs, new Float64Array(length));
    quantities = enlarged(quantities, new Float64Array(length).fill(Number.NaN));
    statusCodes = enlarged(statusCodes, new Uint8Array(length));
    marks = enlarged(marks, new Uint8Array(length));
  }

  return {
    get count() {
      return slots.count;
    },
    idOf: slots.idOf,
    slotOf(petId) {
      const slot = slots.slotOf(petId);
      if (slot === seqs.length) grow();
      return slot;
    },
    at: (slot) => ({
      seq: seqs[slot]!,
      quantity: Number.isNaN(quantities[slot]) ? null : quantities[slot]!,
      status: statuses[statusCodes[slot]!]!,
    }),
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
