import type { Imported } from "../../../src/domain/catalogue/import-preview.ts";
import type { OrderRecord } from "../../../src/domain/catalogue/orders.ts";
import type { PetRecord } from "../../../src/domain/catalogue/pets.ts";
import { type Environment, type Key, scopes } from "../../../src/domain/keys/keys.ts";
import type { Entry } from "../../../src/domain/ledger/inventory.ts";
import type { LedgerRow, Unit } from "../../../src/domain/ledger/ledger.ts";
import type { Store } from "../../../src/domain/store.ts";
import { type TestClock, testStart } from "../clock.ts";

/** A database of one engine, empty at first, on which any number of stores can be opened. */
export interface StorePlace {
  open(environment?: Environment): Promise<Store>;
  /** Runs a statement on a connection that is not ours. */
  execute(sql: string): Promise<unknown>;
  /** Closes every open store and removes the database. */
  remove(): Promise<void>;
}

export type PetRow = Partial<PetRecord> & { petId: bigint };

/** What each part of the suite works with. Every test gets a new place and a new store. */
export interface StoreSuite {
  /**
   * False if another call tests this engine whole. Then a part tests only what a connection or a
   * thread can change: that values arrive, that other stores see them, and that writers do not
   * disturb each other.
   */
  readonly isWhole: boolean;
  readonly clock: TestClock;
  readonly place: StorePlace;
  store: Store;
  /** A second, independent database. */
  enterAnother(): Promise<StorePlace>;
  add(...rows: readonly PetRow[]): Promise<Imported>;
  ledger(): Promise<readonly LedgerRow[]>;
  entries(): Promise<readonly Entry[]>;
  /** A unit of one change by the key `key_a`. */
  set(petId: bigint, quantity: number, reason?: string | null): Unit;
  /** Adds the key `key_a`, whose changes would otherwise have no key, and verifies the store. */
  expectSound(): Promise<void>;
}

export function orderRow(order: Partial<OrderRecord> & { id: bigint }, at = 0): OrderRecord {
  return {
    line: at + 1,
    petId: 1n,
    quantity: 1,
    shipDate: null,
    status: "placed",
    complete: false,
    ...order,
  };
}

export function keyNamed(id: string): Key {
  return {
    id,
    name: `The key ${id}`,
    plan: "free",
    limits: { perMinute: 60, perDay: 1_000 },
    scopes,
    createdAt: testStart,
    expiresAt: null,
    revokedAt: null,
  };
}

export function banOf(keyId: string, startedAt: number, until: number) {
  return { keyId, startedAt, until, liftedAt: null };
}

export async function* batchesOf<T>(
  ...batches: readonly (readonly T[])[]
): AsyncGenerator<readonly T[]> {
  yield* batches;
}

export async function* brokenOff<T>(row: T): AsyncGenerator<readonly T[]> {
  yield [row];
  throw new Error("broken off");
}
