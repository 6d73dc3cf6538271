import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { formatCursor, parseCursor } from "../../src/domain/ledger/cursors.ts";
import { createHeadWatcher } from "../../src/domain/ledger/head.ts";
import type { NamedRow } from "../../src/domain/ledger/ledger.ts";
import { followTail, type LedgerTail } from "../../src/domain/ledger/tail.ts";
import { prefers } from "../../src/http/api/feed.ts";
import { createFeedChunks } from "../../src/http/feed/chunks.ts";
import { changeEvent, positionEvent, retryField } from "../../src/http/feed/events.ts";
import { createFeed } from "../../src/http/feed/feed.ts";
import { upTo } from "../support/history.ts";
import { startTestService, type TestService } from "../support/service.ts";
import { setUnit } from "../support/units.ts";

describe("a cursor", () => {
  test("is read as it was written, and a plain number has no epoch", () => {
    for (const epoch of ["a", "5f3b2c1e-8a4d-4f0b-9c6e-2d7a1b0e4c93", "7.1-2f-3"]) {
      for (const seq of [0, 1, 1207, Number.MAX_SAFE_INTEGER]) {
        expect(parseCursor(formatCursor({ epoch, seq }))).toEqual({ epoch, seq });
      }
    }
    expect(parseCursor("42")).toEqual({ epoch: undefined, seq: 42 });
    for (const text of [
      "",
      "-",
      "-1",
      "a-",
      "a-01",
      "01",
      " 1",
      "1 ",
      "a b-1",
      "a\n-1",
      "9".repeat(16),
    ]) {
      expect([text, parseCursor(text)]).toEqual([text, undefined]);
    }
  });
});

describe("Accept", () => {
  test("asks for a type if it names it with a larger weight than the other", () => {
    const wants = (accept: string | null) =>
      prefers(accept, "text/event-stream", "application/json");
    for (const accept of [
      "text/event-stream",
      "text/event-stream;q=0.001",
      "Text/Event-Stream ; Q=0.5 , */*;q=1",
      "application/json;q=0.4, text/event-stream;q=0.5",
      "application/json;q=0, text/event-stream;charset=utf-8;q=1",
    ]) {
      expect([accept, wants(accept)]).toEqual([accept, true]);
    }
    for (const accept of [
      ...[
        null,
        "",
        "*/*",
        "text/*",
        "application/json",
        "text/event-streams",
        "text/event-stream;q=0",
      ],
      ...["text/event-stream;q=1.5", "text/event-stream;q=-1", "text/event-stream;q=x"],
      "application/json, text/event-stream",
    ]) {
      expect([accept, wants(accept)]).toEqual([accept, false]);
    }
  });
});

describe("events", () => {
  const row: NamedRow = {
    seq: 7,
    petId: 9223372036854775807n,
    before: null,
    after: { quantity: 1, status: "available" },
    previous: null,
    cause: "api",
    keyId: null,
    keyName: null,
    requestId: null,
    reason: "two\nlines\r\u0085\u2028\u2029",
    at: 0,
  } as unknown as NamedRow;

  test("have one line of data each, whatever a reason contains", () => {
    const text = changeEvent(row, { epoch: "e", seq: 7 });
    expect(text).toStartWith('id: e-7\nevent: change\ndata: {"seq":7,"petId":9223372036854775807,');
    expect(text).toEndWith("}\n\n");
    // Some clients also end a line at the last three.
    expect(text.split(/\r\n|\r|\n|\u0085|\u2028|\u2029/)).toHaveLength(5);
    expect(positionEvent("reset", { epoch: "e", seq: 7 })).toBe(
      'id: e-7\nevent: reset\ndata: {"seq":7}\n\n',
    );
  });

  test("tell clients to reconnect after one to three seconds, each after another time", () => {
    const times = upTo(50).map(() => Number(/^retry: (\d+)\n\n$/.exec(retryField())![1]));
    expect(Math.min(...times)).toBeGreaterThanOrEqual(1_000);
    expect(Math.max(...times)).toBeLessThanOrEqual(3_000);
    expect(new Set(times).size).toBeGreaterThan(10);
  });
});

describe("chunks and streams", () => {
  let service: TestService;
  let tail: LedgerTail;
  const all = { cause: undefined, keyId: undefined };
  beforeEach(async () => {
    service = await startTestService();
    await service.addPets({ petId: 1n });
    await service.store.inventory.commit(
      upTo(200).map((quantity) => setUnit(1n, quantity, { keyId: `key_${quantity % 2}` })),
    );
    const watcher = createHeadWatcher(service.store.inventory, () => {});
    tail = await followTail(service.store, watcher, () => {});
  });
  afterEach(async () => {
    tail.stop();
    await service.stop();
  });

  test("are encoded once for all streams at the same position with the same filter", async () => {
    const chunks = createFeedChunks(tail);
    const first = (await chunks.after(0, all))!;
    expect(await chunks.after(0, { ...all })).toBe(first);
    const filtered = (await chunks.after(0, { ...all, keyId: "key_1" }))!;
    expect(filtered).not.toBe(first);
    expect(filtered.position).toEqual(first.position);
    expect(filtered.bytes.length).toBeLessThan(first.bytes.length);
    expect((await chunks.after(0, { ...all, cause: "undo" }))!.bytes).toHaveLength(0);
    chunks.clear();
    const again = (await chunks.after(0, all))!;
    expect(again).not.toBe(first);
    expect(again.bytes).toEqual(first.bytes);
  });

  test("that no row matches do not stay in memory for ever", async () => {
    const chunks = createFeedChunks(tail);
    const first = (await chunks.after(0, { ...all, keyId: "key_none" }))!;
    expect(await chunks.after(0, { ...all, keyId: "key_none" })).toBe(first);
    for (const number of upTo(10_000)) await chunks.after(0, { ...all, keyId: `key_x${number}` });
    expect(await chunks.after(0, { ...all, keyId: "key_none" })).not.toBe(first);
  });

  test("follow each other without a gap to the end of the ledger", async () => {
    const chunks = createFeedChunks(tail);
    const decoder = new TextDecoder();
    const seqs: number[] = [];
    for (let chunk = await chunks.after(0, all); chunk; ) {
      const text = decoder.decode(chunk.bytes);
      seqs.push(...[...text.matchAll(/^id: \S+-(\d+)$/gm)].map(([, seq]) => Number(seq)));
      expect(seqs.at(-1)).toBe(chunk.position.seq);
      chunk = await chunks.after(chunk.position.seq, all);
    }
    expect(seqs).toEqual(upTo(201));
  });

  test("a client that is gone before its stream is open takes no place", async () => {
    const bounds = {
      ...{ streamsPerKeyMax: 1, streamsPerOperatorMax: 1, streamsMax: 1 },
      ...{ heartbeatMs: 60_000, stallMs: 60_000 },
    };
    const readBannedKeys = async () => new Set<string>();
    const monotonicMs = () => performance.now();
    const feed = createFeed({ tail, readBannedKeys, bounds, monotonicMs, log: () => {} });
    const request = {
      ...{ cursor: undefined, afterSeq: 0, filter: all, keyId: "key_1", isOperator: false },
      isAuthorized: () => true,
    };
    const gone = await feed.open({ ...request, signal: AbortSignal.abort() });
    expect(await new Response(gone).text()).toBe("");
    expect(await feed.open({ ...request, signal: new AbortController().signal })).toBeDefined();
    feed.close();
  });

  test("that were being read when the history changed are not used", async () => {
    const chunks = createFeedChunks(tail);
    const reading = chunks.after(0, all);
    expect(reading).toBeInstanceOf(Promise);
    chunks.clear();
    expect(await reading).toBeUndefined();
  });
});
