import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { readConfig } from "../src/config.ts";
import { commandImport } from "../src/domain/catalogue/import-preview.ts";
import { digestOf } from "../src/domain/keys/keyring.ts";
import { scopes } from "../src/domain/keys/keys.ts";
import { plans } from "../src/domain/limits/plans.ts";
import type { Store } from "../src/domain/store.ts";
import { verify } from "../src/domain/verification/verify.ts";
import { openOrCreateStore } from "../src/opening/stores.ts";
import { anEntry } from "./support/audit.ts";
import { createTestClock, testStart } from "./support/clock.ts";
import { petRow } from "./support/pets.ts";
import { createdDatabase } from "./support/postgres-template.ts";
import {
  restoring,
  type Tamperer,
  tampererOfPostgres,
  tampererOfSqlite,
} from "./support/properties/corruptions.ts";
import { surfaceEngine } from "./support/service.ts";
import { batchesOf } from "./support/store-suite/suite.ts";
import { hashesOf } from "./support/stored-rows.ts";
import { setUnit } from "./support/units.ts";

const rows = 12;

/** Three pets, and nine updates with every field that a row can have. */
async function fill(store: Store): Promise<void> {
  const key = { id: "key_a", name: "till", plan: "business", limits: plans.business } as const;
  const times = { createdAt: testStart, expiresAt: null, revokedAt: null };
  await store.keys.addKey({ ...key, scopes, ...times }, digestOf("key_a"), anEntry);
  await store.keys.addKey({ ...key, id: "key_b", scopes, ...times }, digestOf("key_b"), anEntry);
  const pets = [1n, 2n, 3n].map((petId) => petRow({ petId, quantity: 1 }));
  await store.catalogue.importPets(batchesOf(pets), commandImport("import of pets.json"));
  for (let at = 0; at < 9; at++) {
    const origin = { keyId: "key_a", requestId: `req_${at}`, reason: `sold at the fair 🐢 ${at}` };
    await store.inventory.commit([setUnit(BigInt(1 + (at % 3)), 10 + at, origin)]);
  }
}

/** Another value for each column, which the column allows. */
const changes: Readonly<Record<string, string>> = {
  seq: "seq + 1000",
  pet_id: "pet_id + 1000",
  quantity_before: "coalesce(quantity_before, 0) + 1",
  quantity_after: "quantity_after + 1",
  status_before: "'sold'",
  status_after: "'sold'",
  previous: "CASE WHEN previous IS NULL THEN 1 WHEN previous = 1 THEN 2 ELSE previous - 1 END",
  cause: "CASE cause WHEN 'undo' THEN 'import' ELSE 'undo' END",
  key_id: "'key_b'",
  request_id: "'req_x'",
  reason: "replace(reason, 'f', 'g')",
  at: "at + 1",
};

describe.each([surfaceEngine])("the ledger on %s", (engine) => {
  const folder = mkdtempSync(join(tmpdir(), "petstore-proof-"));
  let database: string;
  let store: Store;
  let tamperer: Tamperer;
  /** The tables that these tests damage. */
  const tables = () => ["ledger", "inventory", tamperer.names.tip];
  beforeAll(async () => {
    const isFile = engine === "sqlite";
    database = isFile ? `sqlite:${join(folder, "test.db")}` : await createdDatabase();
    store = await openOrCreateStore(readConfig({ database }, {}), createTestClock());
    await fill(store);
    tamperer = isFile
      ? await tampererOfSqlite(join(folder, "test.db"))
      : await tampererOfPostgres(database);
    for (const table of tables()) {
      await tamperer.run(`CREATE TABLE was_${table} AS SELECT * FROM ${table}`);
    }
  });
  afterAll(async () => {
    await tamperer.close();
    await store.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const check = (kept?: { seq: number; hash: string }) =>
    store.transfer.snapshot((snapshot) => verify(snapshot, kept));

  /** The faults after some statements, which are undone. */
  async function faultsAfter(
    tamper: () => Promise<unknown>,
    kept?: { seq: number; hash: string },
  ): Promise<readonly string[]> {
    try {
      await tamper();
      return (await check(kept)).faults;
    } finally {
      await tamperer.run(restoring(tables()));
    }
  }

  /** The rows whose hash does not fit their content. */
  const unfitting = (faults: readonly string[]) =>
    faults.flatMap((fault) => /^ledger row (\d+): its hash is/.exec(fault)?.[1] ?? []);

  /** Writes the hashes that fit the rows as they are now, as someone who knows the rules could. */
  async function hashAgain(): Promise<void> {
    const hashes = await hashesOf(database);
    const { bytes, tip } = tamperer.names;
    for (let seq = 1; seq < hashes.length; seq++) {
      await tamperer.run(`UPDATE ledger SET hash = ${bytes(hashes[seq]!)} WHERE seq = ${seq}`);
    }
    const [last, end] = [hashes.length - 1, hashes.at(-1)];
    const at = `(SELECT at FROM ledger WHERE seq = ${last})`;
    const set = `seq = ${last}, at = ${at}, hash = '${end}'`;
    await tamperer.run(`UPDATE ${tip} SET ${set} WHERE seq = ${rows}`);
  }

  // The rows are compared by the same code on every engine, so that one engine has more of them: the
  // rows of the import and the last one have no row of their pet before or after them.
  const places = engine === "sqlite" ? [1, 2, 7, rows] : [rows];

  test("has the hashes that docs/proof.md describes, in every row and in the head", async () => {
    const hashes = await hashesOf(database);
    expect(hashes).toHaveLength(rows + 1);
    expect(await store.history.readTip()).toMatchObject({ seq: rows, hash: hashes[rows]! });
    expect(await check()).toMatchObject({ seq: rows, hash: hashes[rows]!, faults: [] });
    for (const seq of [0, ...places]) {
      expect((await check({ seq, hash: hashes[seq]! })).faults).toEqual([]);
    }
  });

  for (const [column, value] of Object.entries(changes)) {
    test(`a change of ${column} in any row is found, and that row is named`, async () => {
      for (const seq of places) {
        const faults = await faultsAfter(() =>
          tamperer.run(`UPDATE ledger SET ${column} = ${value} WHERE seq = ${seq}`),
        );
        if (column === "previous") {
          const row = expect.stringContaining(`ledger row ${seq}: previous is`);
          expect(faults).toContainEqual(row);
        } else if (column !== "seq") expect(unfitting(faults)).toEqual([`${seq}`]);
        // The row is now the last one, and another follows the gap that it left.
        else if (seq < rows) expect(faults[0]).toContain(`expected row ${seq} there`);
        else expect(unfitting(faults)).toEqual([`${seq + 1000}`]);
      }
    });
  }

  test("a change of one hash is found, and only that row is named", async () => {
    for (const seq of places) {
      const hash = tamperer.names.bytes("ab".repeat(32));
      const faults = await faultsAfter(() =>
        tamperer.run(`UPDATE ledger SET hash = ${hash} WHERE seq = ${seq}`),
      );
      expect(faults).toHaveLength(1);
      expect(unfitting(faults)).toEqual([`${seq}`]);
    }
  });

  test("the first of several changed rows is named first", async () => {
    const faults = await faultsAfter(() =>
      tamperer.run("UPDATE ledger SET reason = 'other' WHERE seq IN (5, 6, 9)"),
    );
    expect(unfitting(faults)).toEqual(["5", "6", "9"]);
  });

  test("two rows that changed places are found, with and without their hashes", async () => {
    const swap = `UPDATE ledger SET seq = -1 WHERE seq = 6;
      UPDATE ledger SET seq = 6 WHERE seq = 7; UPDATE ledger SET seq = 7 WHERE seq = -1`;
    expect(unfitting(await faultsAfter(() => tamperer.run(swap)))[0]).toBe("6");
    const swapHashes = `UPDATE ledger SET hash = (SELECT hash FROM was_ledger WHERE was_ledger.seq =
      ledger.seq) WHERE seq IN (6, 7)`;
    const faults = await faultsAfter(() => tamperer.run(`${swap}; ${swapHashes}`));
    expect(unfitting(faults)).toEqual(["6", "7"]);
  });

  test("a row that was removed or inserted is found, also if the others were renumbered", async () => {
    const removed = await faultsAfter(() => tamperer.run("DELETE FROM ledger WHERE seq = 6"));
    expect(removed[0]).toBe("ledger row 7: comes after row 5; expected row 6 there");
    const renumbered = await faultsAfter(() =>
      tamperer.run(`DELETE FROM ledger WHERE seq = 6; UPDATE ledger SET seq = -seq WHERE seq > 6;
        UPDATE ledger SET seq = -seq - 1 WHERE seq < 0`),
    );
    expect(unfitting(renumbered)[0]).toBe("6");
    const columns = "pet_id, quantity_before, quantity_after, status_before, status_after";
    const others = `${columns}, previous, cause, key_id, request_id, reason, at, hash`;
    const inserted = await faultsAfter(() =>
      tamperer.run(`UPDATE ledger SET seq = -seq WHERE seq > 6;
        UPDATE ledger SET seq = 1 - seq WHERE seq < 0;
        INSERT INTO ledger (seq, ${others}) SELECT 7, ${others} FROM ledger WHERE seq = 6`),
    );
    expect(unfitting(inserted)[0]).toBe("7");
  });

  test("rows that were cut off are found by the head, and by a kept hash if the head was changed too", async () => {
    const cut = `DELETE FROM ledger WHERE seq = ${rows};
      UPDATE inventory SET version = ${rows - 3}, quantity = 15 WHERE version = ${rows}`;
    const { tip } = tamperer.names;
    const last = `(SELECT at FROM ledger WHERE seq = ${rows - 1})`;
    const moved = `UPDATE ${tip} SET seq = ${rows - 1}, at = ${last} WHERE seq = ${rows}`;
    const found = await faultsAfter(() => tamperer.run(`${cut}; ${moved}`));
    expect(found).toHaveLength(1);
    expect(found[0]).toStartWith("the head: hash is ");
    const kept = { seq: rows, hash: (await hashesOf(database))[rows]! };
    const cutCarefully = async () => {
      await tamperer.run(cut);
      await hashAgain();
    };
    expect(await faultsAfter(cutCarefully)).toEqual([]);
    const end = `ledger row ${rows}: the ledger ends at ${rows - 1}; expected ${kept.hash}`;
    expect(await faultsAfter(cutCarefully, kept)).toEqual([end]);
  });

  test("a ledger that was rewritten with fitting hashes is found only by a hash that someone kept", async () => {
    const before = await hashesOf(database);
    const rewrite = async () => {
      await tamperer.run("UPDATE ledger SET reason = 'other' WHERE seq = 7");
      await hashAgain();
    };
    expect(await faultsAfter(rewrite)).toEqual([]);
    const kept = (seq: number) => ({ seq, hash: before[seq]! });
    expect(await faultsAfter(rewrite, kept(6))).toEqual([]);
    for (const seq of [7, rows]) {
      const faults = await faultsAfter(rewrite, kept(seq));
      expect(faults).toHaveLength(1);
      expect(faults[0]).toStartWith(`ledger row ${seq}: its hash is `);
      expect(faults[0]).toEndWith(`; expected ${before[seq]}, the hash that was given`);
    }
  });
});

test("the commands in docs/proof.md print the hashes that the page shows", async () => {
  const page = readFileSync(resolve(import.meta.dir, "../docs/proof.md"), "utf8");
  const [, script, output] = /```sh\n(previous=.*?)```\n.*?```text\n(.*?)```/s.exec(page)!;
  const child = Bun.spawn(["sh", "-c", script!], { stdout: "pipe" });
  expect(await new Response(child.stdout).text()).toBe(output!);
});
