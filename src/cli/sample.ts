import type { Config } from "../config.ts";
import { byCommand } from "../domain/audit/audit.ts";
import { commandImport } from "../domain/catalogue/import-preview.ts";
import type { OrderRecord } from "../domain/catalogue/orders.ts";
import type { PetRecord } from "../domain/catalogue/pets.ts";
import { issueKey, issueOperatorKey } from "../domain/keys/lifecycle.ts";
import type { Store } from "../domain/store.ts";
import { once } from "../domain/values/once.ts";

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

const pets = [
  ["Rex", "dogs", ["friendly", "trained"], "available", 3],
  ["Luna", "dogs", ["puppy"], "pending", 1],
  ["Whiskers", "cats", ["indoor"], "available", 5],
  ["Shadow", "cats", ["shy"], "sold", 0],
  ["Goldie", "fish", ["freshwater"], "available", 42],
  ["Coral", "fish", ["saltwater", "rare"], "available", 7],
  ["Thumper", "rabbits", ["lop-eared"], "available", 4],
  ["Polly", "birds", ["talks"], "pending", 1],
  ["Kiwi", "birds", [], "available", 9],
  ["Sheldon", "turtles", ["slow"], "available", 2],
] as const;

/** Their ids are 1, 2, 3 …, and so are those of the orders. */
export const samplePets: readonly PetRecord[] = pets.map(
  ([name, category, tags, status, quantity], at) => {
    return { line: at + 1, petId: BigInt(at + 1), name, category, tags, status, quantity };
  },
);

const orders = [
  [4n, 1, Date.UTC(2026, 9, 1), "delivered"],
  [2n, 1, Date.UTC(2026, 10, 20), "approved"],
  [5n, 6, null, "placed"],
] as const;

export const sampleOrders: readonly OrderRecord[] = orders.map(
  ([petId, quantity, shipDate, status], at) => {
    const complete = status === "delivered";
    return { line: at + 1, id: BigInt(at + 1), petId, quantity, shipDate, status, complete };
  },
);
