import { fieldRules, petFields } from "../catalogue/pet-fields.ts";
import { valueOfJson } from "../values/json.ts";
import { shown } from "./faults.ts";
import { toNumber } from "./ledger.ts";
import { checkRows, type Tables } from "./rows.ts";
import { type PetState, type PetStates, stockText } from "./states.ts";

/** Compares every entry with the replayed ledger, and marks the pets that have one. */
export function checkEntries(tables: Tables, states: PetStates): Promise<number> {
  return checkRows(tables, "inventory", (row, note) => {
    const slot = states.slotOf(row[0] as bigint);
    const { seq, quantity, status } = states.at(slot);
    if (toNumber(row[1]) !== quantity || row[2] !== status) {
      const source = seq === 0 ? "the ledger has no row of it" : `row ${seq} left that`;
      note(stockText(toNumber(row[1]), row[2]), `${stockText(quantity, status)}: ${source}`);
    } else if (toNumber(row[3]) !== seq) {
      note(`version is ${row[3]}`, `${seq}, the pet's last row`);
    }
    if (states.mark(slot, "entry")) note("exists twice", "one entry");
  });
}

/** The columns of pets that have lists, which no constraint can look into. */
const lists = petFields.flatMap(({ name, kind }, at) =>
  kind === "texts" ? [{ name, at: at + 1 }] : [],
);

/**
 * Checks that every pet has an entry and lists of texts, and that every entry and every ledger row has a
 * pet.
 */
export async function checkPets(tables: Tables, states: PetStates): Promise<number> {
  const count = await checkRows(tables, "pets", (row, note) => {
    const slot = states.slotOf(row[0] as bigint);
    for (const { name, at } of lists) {
      if (!isList(row[at])) note(`${name} is ${shown(row[at])}`, "a list of texts");
    }
    if (!states.has(slot, "entry")) {
      const state = states.at(slot);
      note("has no entry", state.seq === 0 ? "one" : leftText(state));
    }
    if (states.mark(slot, "pet")) note("exists twice", "one pet");
  });
  for (let slot = 0; slot < states.count; slot++) {
    if (states.has(slot, "pet")) continue;
    const petId = states.idOf(slot);
    const state = states.at(slot);
    if (states.has(slot, "entry")) {
      tables.faults.note(`entry of pet ${petId}`, "there is no such pet", "a pet");
    } else if (state.quantity !== null) {
      tables.faults.note(`pet ${petId}`, "is missing, and so is its entry", leftText(state));
    }
  }
  return count;
}

function isList(value: unknown): boolean {
  return value === "[]" || fieldRules.texts.read(valueOfJson(value)) !== undefined;
}

function leftText({ seq, quantity, status }: PetState): string {
  return `${stockText(quantity, status)}, as row ${seq} left it`;
}

/** Checks that the last row of every pet without an entry is known, because it has no entry to name it. */
export async function checkRemovals(tables: Tables, states: PetStates): Promise<void> {
  await checkRows(tables, "removed_pets", (row, note) => {
    const slot = states.slotOf(row[0] as bigint);
    states.mark(slot, "removal");
    const version = Number(row[1]);
    const { seq, quantity } = states.at(slot);
    const isRemoved = quantity === null;
    if (isRemoved ? version === seq : version < seq) return;
    const expected =
      seq === 0
        ? "no removal: the ledger has no row of it"
        : isRemoved
          ? `${seq}, the pet's last row`
          : `a row before ${seq}`;
    note(`version is ${version}`, expected);
  });
  for (let slot = 0; slot < states.count; slot++) {
    const { seq, quantity } = states.at(slot);
    if (states.has(slot, "removal") || seq === 0 || quantity !== null) continue;
    tables.faults.note(`removal of pet ${states.idOf(slot)}`, "is not noted", `row ${seq}`);
  }
}

export async function checkOrders(tables: Tables): Promise<void> {
  let last: unknown;
  await checkRows(tables, "orders", ([id], note) => {
    if (id === last) note("exists twice", "one order");
    last = id;
  });
}
