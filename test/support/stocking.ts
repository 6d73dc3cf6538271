// Fills and checks a store as the commands do, without a process for each.

import { readConfig } from "../../src/config.ts";
import { byCommand } from "../../src/domain/audit/audit.ts";
import { commandImport } from "../../src/domain/catalogue/import-preview.ts";
import { createProblems } from "../../src/domain/catalogue/import-problems.ts";
import { petRows } from "../../src/domain/catalogue/imports.ts";
import { issueKey } from "../../src/domain/keys/lifecycle.ts";
import type { KeyTerms } from "../../src/domain/keys/terms.ts";
import type { Store } from "../../src/domain/store.ts";
import type { KeptHash } from "../../src/domain/verification/chain.ts";
import { type Verification, verify } from "../../src/domain/verification/verify.ts";
import { readRecords } from "../../src/files/rows.ts";
import { systemClock } from "../../src/opening/engines.ts";
import { openOrCreateStore } from "../../src/opening/stores.ts";
import { patiently } from "./until.ts";

/** Opens the store at an address as a command does, and closes it after the work. */
export async function withStoreAt<T>(
  database: string,
  work: (store: Store) => Promise<T>,
): Promise<T> {
  const store = await openOrCreateStore(readConfig({ database }, {}), systemClock);
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}

/** Creates an empty store, or does nothing if there is one. */
export function createStore(database: string): Promise<void> {
  return withStoreAt(database, async () => {});
}

/** Imports pets, each as JSON. */
export async function importPets(database: string, ...pets: readonly string[]): Promise<void> {
  await patiently(async () => {
    const problems = createProblems();
    const records = readRecords(bytesOf(pets.join("\n")), "ndjson", petRows, problems);
    await withStoreAt(database, ({ catalogue }) =>
      catalogue.importPets(records, commandImport("import of -"), problems),
    );
  });
}

async function* bytesOf(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text);
}

/** Issues a key for the production environment. */
export async function createKey(
  database: string,
  terms: KeyTerms,
): Promise<{ id: string; key: string }> {
  const { key, text } = await withStoreAt(database, (store) =>
    issueKey(store, "production", terms, byCommand(systemClock.now())),
  );
  return { id: key.id, key: text };
}

/** Checks the whole store, as `petstore verify` does. */
export function verifyStore(database: string, kept?: KeptHash): Promise<Verification> {
  return withStoreAt(database, ({ transfer }) =>
    transfer.snapshot((snapshot) => verify(snapshot, kept)),
  );
}

/** The terms of a key whose limits no test reaches. */
export const unlimited = { plan: "enterprise", perMinute: 1_000_000, perDay: 100_000_000 };
