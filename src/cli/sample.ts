import type { Config } from "../config.ts";
import { byCommand } from "../domain/audit/audit.ts";
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
  const api = await issueKey(store, environment, terms, byCommand(now));
  const operatorTerms = { name: "first operator" };
  const operator = await issueOperatorKey(store, environment, operatorTerms, byCommand(now));
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
  order(1, 4, 1, Date.UTC(2026, 9, 1), "delivered"),
  order(2, 2, 1, Date.UTC(2026, 10, 20), "approved"),
  order(3, 5, 6, null, "placed"),
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

function order(
  id: number,
  petId: number,
  quantity: number,
  shipDate: number | null,
  status: OrderRecord["status"],
): OrderRecord {
  const complete = status === "delivered";
  return { line: id, id: BigInt(id), petId: BigInt(petId), quantity, shipDate, status, complete };
}
