import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Once } from "../../src/domain/audit/audit.ts";
import { digestOf } from "../../src/domain/keys/keyring.ts";
import { digestOfTexts } from "../../src/domain/ledger/idempotency.ts";
import type { Store } from "../../src/domain/store.ts";
import { anEntry } from "../support/audit.ts";
import { petRow } from "../support/pets.ts";
import { createdDatabase } from "../support/postgres-template.ts";
import { openWorkspace } from "../support/process.ts";
import { copyReleaseBackup } from "../support/release-backup.ts";
import { createStore, verifyStore, withStoreAt } from "../support/stocking.ts";
import { newPet, origin } from "../support/store-suite/pets.ts";
import { batchesOf, keyNamed } from "../support/store-suite/suite.ts";

const place = openWorkspace();
afterAll(() => place.leave());

const names = ["early pet", "early key", "pet", "import", "undo", "key", "file"] as const;
const onceOf = (name: (typeof names)[number]): Once => ({
  key: digestOfTexts(name),
  request: digestOfTexts("request", name),
});

async function addKey({ keys }: Store, name: "key" | "early key"): Promise<void> {
  const id = `key_${name.length}`;
  const entry = { ...anEntry, target: id, once: onceOf(name) };
  await keys.addKey(keyNamed(id), digestOf(id), entry);
}

function addPet({ catalogue }: Store, petId: bigint, name: "pet" | "early pet") {
  return catalogue.createPet(newPet(petId), { ...origin, keyId: "key_9", once: onceOf(name) });
}

function importPet({ catalogue }: Store, quantity: number, name: "import" | "undo") {
  const records = batchesOf([petRow({ petId: 1n, quantity })]);
  const actor = { keyId: "key_9", requestId: `req_${name}`, once: onceOf(name) };
  const undone = name === "undo" ? { undoAsOf: 3 } : {};
  return catalogue.importPets(records, { actor, reason: name, ...undone });
}

/** Backups with row 1, and with rows 1 to 4. */
const early = place.path("early.petstore");
const late = place.path("late.petstore");
const live = `sqlite:${place.path("live.db")}`;
const copies: string[] = [];
beforeAll(async () => {
  copies.push(`sqlite:${place.path("restored.db")}`, await createdDatabase());
  await createStore(live);
  await withStoreAt(live, async (store) => {
    await addKey(store, "early key");
    await addPet(store, 1n, "early pet");
  });
  await place.json("backup", early, "--database", live);
  await withStoreAt(live, async (store) => {
    await addPet(store, 2n, "pet");
    await importPet(store, 5, "import");
    await importPet(store, 6, "undo");
    await addKey(store, "key");
    await store.made.reserveMade(onceOf("file"), 0);
  });
  await place.json("backup", late, "--database", live);
});

/** The names of the requests whose keys are known. */
async function knownTo(database: string): Promise<readonly string[]> {
  expect(await verifyStore(database)).toMatchObject({ faultCount: 0 });
  return withStoreAt(database, async ({ made }) => {
    const found = await Promise.all(names.map((name) => made.findMade(onceOf(name).key)));
    return names.filter((_, at) => found[at]);
  });
}

const restore = async (database: string, file: string, ...words: string[]) =>
  expect(await place.runHere(["restore", file, ...words, "--database", database])).toMatchObject({
    code: 0,
  });

test("a backup has what requests have made, and every engine restores it", async () => {
  for (const database of copies) {
    await restore(database, late);
    expect(await knownTo(database)).toEqual([...names]);
    const [file, imported] = await withStoreAt(database, ({ made }) =>
      Promise.all([made.findMade(onceOf("file").key), made.findMade(onceOf("import").key)]),
    );
    expect(file).toEqual({ request: onceOf("file").request, id: null });
    expect(imported).toEqual({ request: onceOf("import").request, id: "req_import" });
  }
});

test("a restore to a moment forgets the pets, imports and undos that are gone, and nothing else", async () => {
  const lost = ["pet", "import", "undo"] as const;
  for (const [seq, gone] of [
    [1, lost],
    [2, lost.slice(1)],
    [3, lost.slice(2)],
    [4, []],
  ] as const) {
    const database = `sqlite:${place.path(`moment-${seq}.db`)}`;
    await restore(database, late, "--until", `${seq}`);
    const kept = names.filter((name) => !(gone as readonly string[]).includes(name));
    expect(await knownTo(database)).toEqual(kept);
  }
});

test("a later ledger brings the idempotency keys of its pets, imports and undos", async () => {
  for (const source of [late, live]) {
    const database = `sqlite:${place.path(`later-${source.length}.db`)}`;
    await restore(database, early, "--ledger", source);
    // The later key has changed nothing, so it is not restored.
    const kept = names.filter((name) => name !== "key" && name !== "file");
    expect(await knownTo(database)).toEqual(kept);
  }
});

test("a backup of an earlier version has none", async () => {
  for (const database of [`sqlite:${place.path("older.db")}`, await createdDatabase()]) {
    await restore(database, copyReleaseBackup("sqlite", place));
    expect(await knownTo(database)).toEqual([]);
  }
});
