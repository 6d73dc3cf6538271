import type { Config } from "../config.ts";
import { commandLine } from "../domain/audit/audit.ts";
import { commandImport } from "../domain/catalogue/import-preview.ts";
import type { OrderRecord } from "../domain/catalogue/orders.ts";
import type { PetRecord } from "../domain/catalogue/pets.ts";
import { issueKey, issueOperatorKey } from "../domain/keys/lifecycle.ts";
import type { Store } from "../domain/store.ts";

export const samplePlan = "business";

/** The secrets of the first keys, which are shown only once. */
export interface FirstKeys {
  readonly api: string;
  readonly operator: string;
}

/** Adds sample data and two keys to a store without pets and keys. */
export async function fillEmptyStore(store: Store, config: Config): Promise<FirstKeys | undefined> {
  const isEmpty =
    (await store.inventory.readHead()).seq === 0 && (await store.keys.listKeys()).length === 0;
  if (!isEmpty) return undefined;
  const origin = commandImport("sample catalogue");
  await store.catalogue.importPets(once(samplePets), origin);
  await store.catalogue.importOrders(once(sampleOrders), origin);
  const { environment } = config;
  const now = Date.now();
  const terms = { name: "first key", plan: samplePlan };
  const api = await issueKey(store, environment, now, terms, commandLine);
  const operatorTerms = { name: "first operator" };
  const operator = await issueOperatorKey(store, environment, now, operatorTerms, commandLine);
  return { api: api.text, operator: operator.text };
}

async function* once<T>(value: T): AsyncGenerator<T> {
  yield value;
}

export const samplePets: readonly PetRecord[] = [
  pet(1, "Rex", "dogs", ["friendly", "trained"], "available", 3),
  pet(2, "Luna", "dogs", ["puppy"], "pending", 1),
  pet(3, "Whiskers", "cats", ["indoor"], "available", 5),
  pet(4, "Shadow", "cats", ["shy"], "sold", 0),
  pet(5, "Goldie", "fish", ["freshwater"], "available", 42),
  pet(6, "Coral", "fish", ["saltwater", "rare"], "available", 7),
  pet(7, "Thumper", "rabbits", ["lop-eared"], "available", 4),
  pet(8, "Polly", "birds", ["talks"], "pending", 1),
  pet(9, "Kiwi", "birds", [], "available", 9),
  pet(10, "Sheldon", "turtles", ["slow"], "available", 2),
];

export const sampleOrders: readonly OrderRecord[] = [
  {
    line: 1,
    id: 1n,
    petId: 4n,
    quantity: 1,
    shipDate: Date.UTC(2026, 9, 1),
    status: "delivered",
    complete: true,
  },
  {
    line: 2,
    id: 2n,
    petId: 2n,
    quantity: 1,
    shipDate: Date.UTC(2026, 10, 20),
    status: "approved",
    complete: false,
  },
  { line: 3, id: 3n, petId: 5n, quantity: 6, shipDate: null, status: "placed", complete: false },
];

function pet(
  id: number,
  name: string,
  category: string,
  tags: readonly string[],
  status: PetRecord["status"],
  quantity: number,
): PetRecord {
  return { line: id, petId: BigInt(id), name, category, tags, status, quantity };
}
