import { describe, expect, test } from "bun:test";
import { createHeadWatcher } from "../src/domain/ledger/head.ts";
import type { LedgerRow } from "../src/domain/ledger/ledger.ts";
import type { Head } from "../src/domain/ledger/store.ts";
import { unavailable } from "../src/domain/running/errors.ts";
import { announceKeyChanges } from "../src/domain/shop/key-announcements.ts";
import type { Store } from "../src/domain/store.ts";
import { anEntry } from "./support/audit.ts";

const headAt = (seq: number, keysVersion = 0, epoch = "first"): Head => {
  return { epoch, seq, keysVersion };
};
const row = (seq: number) => ({ seq, petId: 1n }) as LedgerRow;

/** A watcher whose announcements and log lines are recorded in order. */
function watch(store: { readHead(): Head | Promise<Head>; cachedHead(): Head | undefined }) {
  const logged: string[] = [];
  const seen: string[] = [];
  const polled: unknown[] = [];
  const watcher = createHeadWatcher(
    store,
    (event) => void logged.push(event),
    (error) => void polled.push(error),
  );
  watcher.subscribe({
    keysChanged: () => void seen.push("keys"),
    rowsCommitted: (rows, epoch) => void seen.push(`rows ${epoch} ${rows.map(({ seq }) => seq)}`),
    headMoved: ({ epoch, seq }) => void seen.push(`${epoch} ${seq}`),
  });
  return { watcher, logged, polled, seen, taken: () => seen.splice(0) };
}

/** A database server: the head is only known by reading it, and reads end when the test says so. */
function serverStore() {
  const reads: PromiseWithResolvers<Head>[] = [];
  const store = {
    cachedHead: () => undefined,
    readHead() {
      const read = Promise.withResolvers<Head>();
      reads.push(read);
      return read.promise;
    },
  };
  return { store, reads };
}

/** An embedded engine: the cached head lags behind the stored one until `refresh`. */
function embeddedStore() {
  let stored = headAt(0);
  let cached = stored;
  return {
    store: { cachedHead: () => cached, readHead: () => ({ ...stored }) },
    write(head: Head) {
      stored = head;
    },
    refresh() {
      cached = stored;
    },
  };
}

describe("the head watcher", () => {
  test("announces a new head, a new epoch and changed keys, and nothing that is unchanged", () => {
    const { store, write, refresh } = embeddedStore();
    const { watcher, taken } = watch(store);
    expect(taken()).toEqual(["keys"]);
    for (const head of [headAt(0), headAt(3), headAt(3, 1), headAt(4, 2), headAt(4, 2, "second")]) {
      write(head);
      refresh();
      expect(watcher.cachedHead()).toEqual(head);
      expect(watcher.cachedHead()).toEqual(head);
      expect(watcher.readHead()).toEqual(head);
    }
    expect(taken()).toEqual(["keys", "first 0", "first 3", "keys", "keys", "first 4", "second 4"]);
    watcher.stop();
  });

  test("does not announce a read that returns after a later one", async () => {
    const { store, reads } = serverStore();
    const { watcher, taken } = watch(store);
    const early = watcher.readHead();
    const late = watcher.readHead();
    reads[1]!.resolve(headAt(7, 1));
    expect(await late).toEqual(headAt(7, 1));
    reads[0]!.resolve(headAt(5, 0));
    // The caller still gets what it read.
    expect(await early).toEqual(headAt(5, 0));
    expect(taken()).toEqual(["keys", "keys", "first 7"]);
    watcher.stop();
  });

  test("announces a store that went back", async () => {
    const { store, reads } = serverStore();
    const { watcher, taken } = watch(store);
    for (const [at, seq] of [7, 5].entries()) {
      const read = watcher.readHead();
      reads[at]!.resolve(headAt(seq));
      await read;
    }
    expect(taken()).toEqual(["keys", "keys", "first 7", "first 5"]);
    watcher.stop();
  });

  test("does not take a cache that lags behind a read for a store that went back", () => {
    const { store, write, refresh } = embeddedStore();
    const { watcher, taken } = watch(store);
    watcher.cachedHead();
    write(headAt(1, 1));
    expect(watcher.readHead()).toEqual(headAt(1, 1));
    taken();
    expect(watcher.cachedHead()).toEqual(headAt(1, 1));
    expect(taken()).toEqual([]);
    // A store that was replaced is announced all the same.
    write(headAt(0, 1));
    refresh();
    expect(watcher.cachedHead()).toEqual(headAt(0, 1));
    expect(taken()).toEqual(["first 0"]);
    watcher.stop();
  });

  test("announces what this process writes at once, in the order of the calls", () => {
    const { store } = serverStore();
    const { watcher, taken } = watch(store);
    watcher.committed([row(1), row(2)], "first");
    watcher.keysWritten();
    watcher.committed([row(3)], "first");
    expect(taken()).toEqual(["keys", "rows first 1,2", "keys", "rows first 3"]);
    watcher.stop();
  });

  test("notifies the other subscribers when one throws, and logs it once", () => {
    const { store, write, refresh } = embeddedStore();
    const logged: string[] = [];
    const seen: string[] = [];
    const watcher = createHeadWatcher(store, (event) => void logged.push(event));
    watcher.subscribe({
      keysChanged: () => {
        throw new Error("a bug");
      },
    });
    watcher.subscribe({ keysChanged: () => void seen.push("keys") });
    write(headAt(0, 1));
    refresh();
    expect(watcher.cachedHead()).toEqual(headAt(0, 1));
    expect(seen).toEqual(["keys", "keys"]);
    expect(logged).toEqual(["task failed"]);
    watcher.stop();
  });

  test("polls a database server, one read at a time, and reports each result", async () => {
    const heads = [headAt(1), headAt(2)];
    const lost = unavailable("unreachable", "no connection");
    const polled = Promise.withResolvers<void>();
    let running = 0;
    const store = {
      cachedHead: () => undefined,
      async readHead() {
        running += 1;
        expect(running).toBe(1);
        await null;
        running -= 1;
        const head = heads.shift();
        if (head) return head;
        setImmediate(polled.resolve);
        throw lost;
      },
    };
    const { watcher, logged, seen, polled: results } = watch(store);
    await polled.promise;
    watcher.stop();
    expect(seen).toEqual(["keys", "keys", "first 1", "first 2"]);
    expect(results).toEqual([undefined, undefined, lost]);
    expect(logged).toEqual([]);
  });

  test("polls an embedded engine and reports each failure", async () => {
    const polledTwice = Promise.withResolvers<void>();
    let polls = 0;
    const store = {
      readHead: () => headAt(0),
      cachedHead(): Head {
        polls += 1;
        if (polls === 2) setImmediate(polledTwice.resolve);
        throw unavailable("unreadable", "the file is damaged");
      },
    };
    const { watcher, logged, polled } = watch(store);
    await polledTwice.promise;
    watcher.stop();
    expect(polled).toHaveLength(2);
    expect(logged).toEqual([]);
  });

  test("announces and logs nothing once it is stopped", async () => {
    const { store, reads } = serverStore();
    const { watcher, taken, logged } = watch(store);
    const good = watcher.readHead();
    const bad = watcher.readHead();
    taken();
    watcher.stop();
    reads[0]!.resolve(headAt(9, 9));
    reads[1]!.reject(new Error("closed"));
    expect(await good).toEqual(headAt(9, 9));
    await expect(bad).rejects.toThrow("closed");
    watcher.committed([row(10)], "first");
    watcher.keysWritten();
    expect([taken(), logged]).toEqual([[], []]);
  });
});

test("changes to keys and bans are announced when they are stored, and not when they fail", async () => {
  const { store: inventory } = serverStore();
  const { watcher, taken } = watch(inventory);
  let isBroken = false;
  const write = async () => {
    if (isBroken) throw new Error("no connection");
    return true;
  };
  const store = announceKeyChanges(
    {
      keys: {
        addKey: write,
        changeKey: write,
        addSecret: write,
        revokeKey: write,
        listKeys: write,
      },
      sessions: { removeSession: write },
      usage: { liftBan: write, saveUsage: write },
    } as unknown as Store,
    watcher,
  );
  taken();
  const writes = [
    () => store.keys.addKey({} as never, "", anEntry),
    () => store.keys.addSecret("", "", 0, 0, anEntry),
    () => store.keys.revokeKey("", 0, anEntry),
    () => store.keys.changeKey({} as never, {} as never, anEntry),
    () => store.sessions.removeSession("", anEntry),
    () => store.usage.liftBan("", 0, anEntry),
  ];
  for (const one of writes) {
    expect(await one()).toBe(true as never);
    expect(taken()).toEqual(["keys"]);
  }
  isBroken = true;
  for (const one of writes) await expect(one()).rejects.toThrow("no connection");
  isBroken = false;
  await store.keys.listKeys();
  await store.usage.saveUsage([]);
  expect(taken()).toEqual([]);
  watcher.stop();
});
