import { checkRows, type Note } from "./columns.ts";
import type { Faults } from "./faults.ts";
import { toNumber } from "./ledger.ts";
import { type PetStates, stockText } from "./states.ts";
import type { RowsOf, StoredRow } from "./store.ts";

/** Compares every entry with the replayed ledger, and marks the pets that have one. */
export function checkEntries(rowsOf: RowsOf, states: PetStates, faults: Faults): Promise<number> {
  return checkRows(rowsOf, "inventory", faults, (row, note) => {
    const slot = states.slotOf(row[0] as bigint);
    checkEntry(row, states, slot, note);
    if (states.mark(slot, "entry")) note("exists twice", "one entry");
  });
}

function checkEntry(row: StoredRow, states: PetStates, slot: number, note: Note): void {
  const [quantity, status, seq] = [
    states.quantityOf(slot),
    states.statusOf(slot),
    states.seqOf(slot),
  ];
  if (toNumber(row[1]) !== quantity || row[2] !== status) {
    const source = seq === 0 ? "the ledger has no row of it" : `row ${seq} left that`;
    note(stockText(toNumber(row[1]), row[2]), `${stockText(quantity, status)}: ${source}`);
  } else if (toNumber(row[3]) !== seq) {
    note(`version is ${row[3]}`, `${seq}, the pet's last row`);
  }
}

/** Checks that every pet has an entry, and that every entry and every ledger row has a pet. */
export async function checkPets(
  rowsOf: RowsOf,
  states: PetStates,
  faults: Faults,
): Promise<number> {
  const count = await checkRows(rowsOf, "pets", faults, ([petId], note) => {
    const slot = states.slotOf(petId as bigint);
    if (!states.has(slot, "entry")) {
      note("has no entry", states.seqOf(slot) === 0 ? "one" : leftIn(states, slot));
    }
    if (states.mark(slot, "pet")) note("exists twice", "one pet");
  });
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

/** Checks that the last row of every pet without an entry is known, because it has no entry to name it. */
export async function checkRemovals(
  rowsOf: RowsOf,
  states: PetStates,
  faults: Faults,
): Promise<void> {
  const noted = new Uint8Array(states.count());
  await checkRows(rowsOf, "removed_pets", faults, (row, note) => {
    const slot = states.slotOf(row[0] as bigint);
    noted[slot] = 1;
    const [version, seq] = [Number(row[1]), states.seqOf(slot)];
    const isRemoved = states.quantityOf(slot) === null;
    if (isRemoved ? version === seq : version < seq) return;
    const expected =
      seq === 0
        ? "no removal: the ledger has no row of it"
        : isRemoved
          ? `${seq}, the pet's last row`
          : `a row before ${seq}`;
    note(`version is ${version}`, expected);
  });
  for (let slot = 0; slot < noted.length; slot++) {
    if (noted[slot] === 1 || states.seqOf(slot) === 0 || states.quantityOf(slot) !== null) continue;
    const expected = `row ${states.seqOf(slot)}`;
    faults.note(`removal of pet ${states.petIdOf(slot)}`, "is not noted", expected);
  }
}

export async function checkOrders(rowsOf: RowsOf, faults: Faults): Promise<void> {
  let last: unknown;
  await checkRows(rowsOf, "orders", faults, ([id], note) => {
    if (id === last) note("exists twice", "one order");
    last = id;
  });
}
