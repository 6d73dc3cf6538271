import { describe, expect, test } from "bun:test";
import type { AuditEntry, Once } from "../../../src/domain/audit/audit.ts";
import { digestOf } from "../../../src/domain/keys/keyring.ts";
import { digestOfTexts } from "../../../src/domain/ledger/idempotency.ts";
import type { Store } from "../../../src/domain/store.ts";
import { anEntry } from "../audit.ts";
import { rejectionOf } from "../client/rejection.ts";
import { testStart } from "../clock.ts";
import { petRow } from "../pets.ts";
import { contentOf } from "../store-content.ts";
import { webhookNamed } from "../webhooks.ts";
import { newPet, origin } from "./pets.ts";
import { batchesOf, keyNamed, orderRow, type StoreSuite } from "./suite.ts";

const onceOf = (key: string, request = "request"): Once => ({
  key: digestOfTexts(key),
  request: digestOfTexts(request),
});
const once = onceOf("a");
const { request } = once;
const conflict = { code: "idempotency_conflict" };

const entryOf = (target: string | null, by = once): AuditEntry => ({
  ...anEntry,
  requestId: "req_a",
  target,
  once: by,
  at: testStart,
});

const addKey = ({ keys }: Store, id: string, by?: Once) =>
  keys.addKey(keyNamed(id), digestOf(id), entryOf(id, by));

const createPet = ({ catalogue }: Store, petId: bigint, by = once) =>
  catalogue.createPet(newPet(petId), { ...origin, once: by });

const importOf = (requestId: string, undoAsOf?: number) => ({
  actor: { keyId: null, requestId, once },
  reason: "test",
  ...(undoAsOf !== undefined && { undoAsOf }),
});

const importPet = ({ catalogue }: Store, quantity: number, undoAsOf?: number) =>
  catalogue.importPets(
    batchesOf([petRow({ petId: 1n, quantity })]),
    importOf(`req_${quantity}`, undoAsOf),
  );

/** What requests with an idempotency key have made. */
export function describeMade(suite: StoreSuite): void {
  const { add, ledger, entries, expectSound } = suite;
  const find = (key = once.key) => suite.store.made.findMade(key);

  /** Asserts that a change with a known key fails, and that nothing of it is stored. */
  async function expectConflict(change: () => Promise<unknown>): Promise<void> {
    const before = [await contentOf(suite.store), (await suite.store.inventory.readHead()).seq];
    expect(await rejectionOf(change())).toMatchObject(conflict);
    expect([await contentOf(suite.store), (await suite.store.inventory.readHead()).seq]).toEqual(
      before,
    );
  }

  describe("what a request has made", () => {
    test("is remembered with it, and the same key makes nothing again", async () => {
      const { store } = suite;
      expect(await find()).toBeUndefined();
      await addKey(store, "key_b");
      const other = await suite.place.open();
      expect(await other.made.findMade(once.key)).toEqual({ request, id: "key_b" });
      const [row] = await store.audit.listEntries({}, 1);
      expect(Object.keys(row!).includes("once")).toBe(false);
      await expectConflict(() => addKey(other, "key_c"));
      await expectConflict(() => addKey(store, "key_c", onceOf("a", "another request")));
      await expectConflict(() => createPet(store, 1n));
      expect(await store.keys.findSecret(digestOf("key_c"))).toBeUndefined();
      await addKey(store, "key_c", onceOf("b"));
      expect(await find()).toEqual({ request, id: "key_b" });
      await expectSound();
    });

    test("can be a pet, whose row in the ledger is like any other", async () => {
      const created = await createPet(suite.store, -5n);
      expect(await find()).toEqual({ request, id: "-5" });
      expect(created).toMatchObject({ kind: "created", row: (await ledger())[0] });
      expect(Object.keys((created as { row: object }).row)).not.toContain("once");
      await expectConflict(() => createPet(suite.store, 6n));
      await expectSound();
    });

    test("of two requests at the same moment is stored once", async () => {
      const stores = [suite.store, await suite.place.open()] as const;
      const changes = [
        (store: Store, at: number, by: Once) => addKey(store, `key_${by.key}_${at}`, by),
        (store: Store, at: number, by: Once) => createPet(store, BigInt(at) + 2n, by),
        (store: Store, at: number, by: Once) => store.audit.addEntry(entryOf(`${at}`, by)),
      ];
      for (let round = 0; round < 9; round++) {
        const by = onceOf(`${round}`);
        const work = [changes[round % 3]!, changes[Math.floor(round / 3)]!];
        const ended = await Promise.allSettled(
          stores.map((store, at) => work[at]!(store, 2 * round + at, by)),
        );
        const failed = ended.flatMap((one) => (one.status === "rejected" ? [one.reason] : []));
        expect(failed).toMatchObject([conflict]);
      }
      expect(await suite.store.audit.listEntries({}, 20)).toHaveLength(9 - (await ledger()).length);
      expect(await entries()).toHaveLength((await ledger()).length);
      await expectSound();
    });

    test("outside the store is announced before, and forgotten if it fails", async () => {
      const { made, audit } = suite.store;
      expect(await made.reserveMade(once, 7)).toBe(true);
      expect(await find()).toEqual({ request, id: null });
      expect(await made.reserveMade(once, 8)).toBe(false);
      await expectConflict(() => audit.addEntry(entryOf("file", onceOf("a", "another"))));
      await made.releaseMade(onceOf("a", "another"));
      expect(await find()).toBeDefined();
      await made.releaseMade(once);
      expect(await find()).toBeUndefined();
      expect(await made.reserveMade(once, 9)).toBe(true);
      await audit.addEntry(entryOf("file"));
      expect(await find()).toEqual({ request, id: "file" });
      expect(await made.reserveMade(once, 9)).toBe(false);
      await made.releaseMade(once);
      expect(await find()).toBeDefined();
    });

    test("is forgotten after its time, the oldest first", async () => {
      const { made } = suite.store;
      for (let at = 1; at <= 4; at++) await made.reserveMade(onceOf(`${at}`), 10 * at);
      const known = async () => {
        const found = ["1", "2", "3", "4"].map((key) => find(onceOf(key).key));
        return (await Promise.all(found)).filter(Boolean).length;
      };
      expect(await made.pruneMade(10, 9)).toBe(0);
      expect(await made.pruneMade(40, 2)).toBe(2);
      expect([await known(), await find(onceOf("2").key)]).toEqual([2, undefined]);
      expect([await made.pruneMade(40, 2), await known()]).toEqual([1, 1]);
    });

    if (!suite.isWhole) return;

    test("can be an import, an undo, a secret or a webhook", async () => {
      const { store } = suite;
      await add({ petId: 1n, quantity: 3 });
      let last = 0;
      const made = [
        () => importPet(store, 4),
        () => importPet(store, 5, 2),
        () => store.catalogue.importOrders(batchesOf([orderRow({ id: 1n })]), importOf("req_o")),
        () => store.webhooks.addWebhook(webhookNamed(`wh_${++last}`), entryOf("wh_a")),
        () => store.keys.addSecret("key_b", digestOf(`${++last}`), 1, 2, entryOf("key_b")),
      ];
      await store.keys.addKey(keyNamed("key_b"), digestOf("b"), anEntry);
      const ids = ["req_4", "req_5", "req_o", "wh_a", "key_b"];
      for (const [at, make] of made.entries()) {
        await make();
        expect(await find()).toEqual({ request, id: ids[at]! });
        for (const again of made) await expectConflict(again);
        await store.made.pruneMade(suite.clock.now() + 1, 9);
      }
      expect((await ledger()).map(({ after }) => after!.quantity)).toEqual([3, 4, 5]);
    });

    test("is not remembered if nothing was changed or the change failed", async () => {
      const { store } = suite;
      const { keys, sessions, webhooks } = store;
      expect(await sessions.removeSession(digestOf("none"), entryOf("key_b"))).toBe(false);
      expect(await webhooks.removeWebhook("wh_none", entryOf("wh_none"))).toBe(false);
      await keys.addKey(keyNamed("key_b"), digestOf("b"), anEntry);
      expect(await rejectionOf(addKey(store, "key_b"))).toBeDefined();
      expect(await find()).toBeUndefined();
      await createPet(store, 1n);
      const exists = await createPet(store, 1n, onceOf("b"));
      expect([exists.kind, await find(onceOf("b").key)]).toEqual(["exists", undefined]);
    });

    test("is known to a store that received the rows", async () => {
      await addKey(suite.store, "key_b");
      await suite.store.made.reserveMade(onceOf("b"), testStart);
      const elsewhere = await suite.enterAnother();
      try {
        const copy = await elsewhere.open();
        await suite.store.transfer.snapshot(({ rowsOf }) => copy.transfer.importTables(rowsOf));
        expect(await copy.made.findMade(once.key)).toEqual({ request, id: "key_b" });
        expect(await copy.made.findMade(onceOf("b").key)).toEqual({ request, id: null });
        expect(await rejectionOf(addKey(copy, "key_c"))).toMatchObject(conflict);
      } finally {
        await elsewhere.remove();
      }
    });
  });
}
