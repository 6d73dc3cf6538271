import { checkColumns } from "./columns.ts";
import type { Faults } from "./faults.ts";
import { toNumber } from "./ledger.ts";
import { type PetStates, stockText } from "./states.ts";
import type { RowsOf, StoredRow } from "./store.ts";

const entryLabel = ([petId]: StoredRow) => `entry of pet ${petId}`;
const petLabel = ([petId]: StoredRow) => `pet ${petId}`;

/** Compares every entry with the replayed ledger, and marks the pets that have one. */
export async function checkEntries(
  rowsOf: RowsOf,
  states: PetStates,
  faults: Faults,
): Promise<number> {
  let count = 0;
  for await (const batch of rowsOf("inventory")) {
    for (const row of batch) {
      checkColumns("inventory", row, entryLabel, faults);
      const slot = states.slotOf(row[0] as bigint);
      checkEntry(row, states, slot, faults);
      if (states.mark(slot, "entry")) faults.note(entryLabel(row), "exists twice", "one entry");
    }
    count += batch.length;
  }
  return count;
}

function checkEntry(row: StoredRow, states: PetStates, slot: number, faults: Faults): void {
  const [quantity, status, seq] = [
    states.quantityOf(slot),
    states.statusOf(slot),
    states.seqOf(slot),
  ];
  if (toNumber(row[1]) !== quantity || row[2] !== status) {
    const source = seq === 0 ? "the ledger has no row of it" : `row ${seq} left that`;
    const found = stockText(toNumber(row[1]), row[2]);
    faults.note(entryLabel(row), found, `${stockText(quantity, status)}: ${source}`);
  } else if (toNumber(row[3]) !== seq) {
    faults.note(entryLabel(row), `version is ${row[3]}`, `${seq}, the pet's last row`);
  }
}

/** Checks that every pet has an entry, and that every entry and every ledger row has a pet. */
export async function checkPets(
  rowsOf: RowsOf,
  states: PetStates,
  faults: Faults,
): Promise<number> {
  let count = 0;
  for await (const batch of rowsOf("pets")) {
    for (const row of batch) {
      checkColumns("pets", row, petLabel, faults);
      const slot = states.slotOf(row[0] as bigint);
      if (!states.has(slot, "entry")) {
        const expected = states.seqOf(slot) === 0 ? "one" : leftIn(states, slot);
        faults.note(petLabel(row), "has no entry", expected);
      }
      if (states.mark(slot, "pet")) faults.note(petLabel(row), "exists twice", "one pet");
    }
    count += batch.length;
  }
  for (let slot = 0; slot < states.count(); slot++) {
    if (states.has(slot, "pet")) continue;
    const petId = states.petIdOf(slot);
    if (states.has(slot, "entry")) {
      faults.note(`entry of pet ${petId}`, "there is no such pet", "a pet");
    } else if (states.quantityOf(slot) !== null) {
      faults.note(`pet ${petId}`, "is missing, and so is its entry", leftIn(states, slot));
    }
  }
  return count;
}

function leftIn(states: PetStates, slot: number): string {
  const stock = stockText(states.quantityOf(slot), states.statusOf(slot));
  return `${stock}, as row ${states.seqOf(slot)} left it`;
}

const removalLabel = ([petId]: StoredRow) => `removal of pet ${petId}`;

/** Checks that the last row of every pet without an entry is known, because it has no entry to name it. */
export async function checkRemovals(
  rowsOf: RowsOf,
  states: PetStates,
  faults: Faults,
): Promise<void> {
  const noted = new Uint8Array(states.count());
  for await (const batch of rowsOf("removed_pets")) {
    for (const row of batch) {
      checkColumns("removed_pets", row, removalLabel, faults);
      const slot = states.slotOf(row[0] as bigint);
      noted[slot] = 1;
      const [version, seq] = [Number(row[1]), states.seqOf(slot)];
      const isRemoved = states.quantityOf(slot) === null;
      if (isRemoved ? version === seq : version < seq) continue;
      const expected =
        seq === 0
          ? "no removal: the ledger has no row of it"
          : isRemoved
            ? `${seq}, the pet's last row`
            : `a row before ${seq}`;
      faults.note(removalLabel(row), `version is ${version}`, expected);
    }
  }
  for (let slot = 0; slot < noted.length; slot++) {
    if (noted[slot] === 1 || states.seqOf(slot) === 0 || states.quantityOf(slot) !== null) continue;
    const expected = `row ${states.seqOf(slot)}`;
    faults.note(`removal of pet ${states.petIdOf(slot)}`, "is not noted", expected);
  }
}

export async function checkOrders(rowsOf: RowsOf, faults: Faults): Promise<void> {
  let last: unknown;
  for await (const batch of rowsOf("orders")) {
    for (const row of batch) {
      checkColumns("orders", row, ([id]) => `order ${id}`, faults);
      if (row[0] === last) faults.note(`order ${row[0]}`, "exists twice", "one order");
      last = row[0];
    }
  }
}
