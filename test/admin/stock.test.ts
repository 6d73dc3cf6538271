import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { issueOperator } from "../support/admin/operators.ts";
import { openFeed } from "../support/feed.ts";
import { expectError, expectUnchanged } from "../support/responses.ts";
import { startTestService, surfaceEngine, type TestService } from "../support/service.ts";

const largest = 2n ** 63n - 1n;

describe.each([surfaceEngine])("the stock in the operator API on %s", (engine) => {
  let service: TestService;
  let operator: { id: string; text: string };
  let key: string;
  beforeAll(async () => {
    service = await startTestService(engine);
    operator = await issueOperator(service, "Ada");
    key = (await service.issueKey()).text;
  });
  afterAll(() => service.stop());

  const send = (method: string, path: string, body?: unknown, headers = {}) =>
    service.call(method, `~/admin${path}`, {
      key: operator.text,
      headers,
      ...(body === undefined
        ? {}
        : { body: typeof body === "string" ? body : JSON.stringify(body) }),
    });
  const lastRow = async () => {
    const { seq } = await service.store.inventory.readHead();
    return (await service.store.history.listRows({ after: seq - 1, upTo: seq }, 1))[0]!;
  };
  const entryOf = async (petId: bigint) =>
    (await service.call("GET", `/inventory/${petId}`, { key })).json as object;
  const stock = async () =>
    (await send("GET", "/stock")).json as { cursor: string; entries: object[] };

  test("a list of no pets is empty and has a cursor", async () => {
    const { cursor, entries } = await stock();
    expect(entries).toEqual([]);
    const feed = await openFeed(service.baseUrl.replace("/v1", "/admin"), {
      key: operator.text,
      query: `?after=${cursor}`,
    });
    expect(feed.events[0]).toMatchObject({ kind: "heartbeat", seq: 0 });
    feed.leave();
  });

  test("the list has every pet with its name, and a reader that follows its cursor misses nothing", async () => {
    const many = Array.from({ length: 4_001 }, (_, at) => ({ petId: BigInt(at), quantity: at }));
    const hostile = '</script><img src=x onerror="alert(1)"> 🐢 \\ \u2028';
    await service.addPets(...many, { petId: largest, name: hostile, category: "a,b" });
    const response = await send("GET", "/stock");
    const { cursor, entries } = response.json as Awaited<ReturnType<typeof stock>>;
    expect(entries).toHaveLength(4_002);
    const ids = [...response.text.matchAll(/"petId":(-?\d+)/g)].map(([, id]) => BigInt(id!));
    expect(ids).toEqual([...many.map(({ petId }) => petId), largest]);
    expect(entries[7]).toEqual({
      petId: 7,
      name: "Pet 7",
      category: null,
      quantity: 7,
      status: "available",
      version: 8,
    });
    expect(entries.at(-1)).toMatchObject({ name: hostile, category: "a,b" });
    await send("PATCH", `/stock/${largest}`, { quantity: 3 });
    const feed = await openFeed(service.baseUrl.replace("/v1", "/admin"), {
      key: operator.text,
      query: `?after=${cursor}`,
    });
    expect(await feed.changes(1)).toEqual([4_003]);
    feed.leave();
    expect((await send("HEAD", "/stock")).text).toBe("");
  });

  test("the list is compressed for clients that accept that, and the content is the same", async () => {
    const accept = (coding: string) =>
      send("GET", "/stock", undefined, { "Accept-Encoding": coding });
    const plain = await accept("identity");
    expect(plain.headers.get("content-encoding")).toBeNull();
    for (const coding of ["zstd", "br", "gzip"]) {
      const { headers, text } = await accept(coding);
      expect([headers.get("content-encoding"), headers.get("vary")]).toEqual([
        coding,
        "Accept-Encoding",
      ]);
      expect(text).toBe(plain.text);
    }
  });

  test("quantity, status and both can be changed, and the ledger says who did it and why", async () => {
    const count = await send("PATCH", "/stock/1", { quantity: 12, reason: "Stocktake 🐢" });
    const { seq } = await lastRow();
    const item = { petId: 1, quantity: 12, status: "available" };
    expect(count.json).toEqual({ ...item, version: seq });
    expect(await lastRow()).toMatchObject({
      cause: "console",
      keyId: operator.id,
      keyName: "Ada",
      requestId: count.headers.get("X-Request-Id"),
      reason: "Stocktake 🐢",
    });
    expect(await entryOf(1n)).toEqual(item);
    await send("PATCH", "/stock/1", { status: "sold" });
    expect(await entryOf(1n)).toEqual({ ...item, status: "sold" });
    await send("PATCH", "/stock/1", { delta: -2, status: "pending", reason: "" });
    expect(await entryOf(1n)).toEqual({ ...item, quantity: 10, status: "pending" });
    expect(await lastRow()).toMatchObject({
      before: { quantity: 12, status: "sold" },
      after: { quantity: 10, status: "pending" },
      reason: null,
    });
    const list = await service.call("GET", "/inventory", { key });
    expect(list.text).toContain('{"petId":1,"quantity":10,"status":"pending"}');
    const history = await send("GET", "/stock/1/history?limit=1");
    expect(history.json).toMatchObject([{ cause: "console", keyName: "Ada" }]);
  });

  test("a change that expects an older version is refused, and the message says what is stored and by whom", async () => {
    const { version } = (await send("PATCH", "/stock/2", { quantity: 5 })).json as {
      version: number;
    };
    await service.call("PATCH", "/inventory/2", { key, body: '{"quantity":6}' });
    const change = { quantity: 9, expectedVersion: version };
    const refused = await expectUnchanged(service.store, () => send("PATCH", "/stock/2", change));
    expectError(refused, "version_conflict");
    const { message } = refused.json as { message: string };
    expect(message).toContain("it is now 6 available, by test at ");
    expect(message).toContain(`(version ${version + 1})`);
    const mine = { quantity: 9, expectedVersion: version + 1 };
    expect((await send("PATCH", "/stock/2", mine)).status).toBe(200);
  });

  test("a change that is sent twice with one Idempotency-Key is made once", async () => {
    const headers = { "Idempotency-Key": '"once"' };
    const first = await send("PATCH", "/stock/3", { delta: 5, status: "sold" }, headers);
    const again = await send("PATCH", "/stock/3", { delta: 5, status: "sold" }, headers);
    expect(again.text).toBe(first.text);
    expect(again.headers.get("Idempotent-Replayed")).toBe("true");
    expect(await entryOf(3n)).toMatchObject({ quantity: 8, status: "sold" });
    const other = await send("PATCH", "/stock/3", { delta: 5 }, headers);
    expectError(other, "idempotency_key_reused");
  });

  test("a batch can change statuses, all or none, and the API rejects a status in a batch", async () => {
    const changes = [
      { petId: 4, status: "sold" },
      { petId: 5, quantity: 1, status: "pending" },
      { petId: 4, delta: 2 },
    ];
    const applied = await send("POST", "/changes", { changes });
    expect(applied.json).toMatchObject({
      entries: [
        { petId: 4, quantity: 4, status: "sold" },
        { petId: 5, quantity: 1, status: "pending" },
        { petId: 4, quantity: 6, status: "sold" },
      ],
    });
    expect(await lastRow()).toMatchObject({ cause: "console", keyId: operator.id });
    const bad = {
      changes: [
        { petId: 4, status: "available" },
        { petId: 4, delta: -7 },
      ],
    };
    const refused = await expectUnchanged(service.store, () => send("POST", "/changes", bad));
    expectError(refused, "insufficient_stock", 1);
    const body = '{"changes":[{"petId":4,"delta":0,"status":"available"}]}';
    const rejected = await expectUnchanged(service.store, () =>
      service.call("POST", "/changes", { key, body }),
    );
    expectError(rejected, "invalid_request");
    expect(rejected.text).toContain("Change 0: Unknown field 'status'.");
  });

  test("an operator undoes a change, unless it is no longer the last one of its pet", async () => {
    await send("PATCH", "/stock/6", { quantity: 1, status: "sold" });
    const { seq } = await lastRow();
    const undone = await send("POST", `/changes/${seq}/undo`);
    expect(undone.json).toMatchObject({
      seq: seq + 1,
      before: { quantity: 1, status: "sold" },
      after: { quantity: 6, status: "available" },
      cause: "undo",
      keyId: operator.id,
      keyName: "Ada",
      reason: `undo of ${seq}`,
      requestId: undone.headers.get("X-Request-Id"),
    });
    const list = await service.call("GET", "/inventory", { key });
    expect(list.text).toContain('{"petId":6,"quantity":6,"status":"available"}');
    const again = await expectUnchanged(service.store, () => send("POST", `/changes/${seq}/undo`));
    expectError(again, "version_conflict");
    expect((again.json as { message: string }).message).toContain("it is now 6 available, by Ada");
    const forced = await send("POST", `/changes/${seq}/undo`, { force: true, reason: "sure" });
    expect(forced.json).toMatchObject({ after: { quantity: 6 }, reason: "sure" });
    const creation = await send("POST", "/changes/1/undo", { force: true });
    expect((creation.json as { message: string }).message).toContain("Remove the pet instead.");
  });

  test("the ledger, its head, snapshots and differences are those of the API", async () => {
    for (const path of [
      "/changes?after=4002&limit=3",
      "/changes/head",
      "/snapshots/4002/diff?to=4003",
    ]) {
      const [ours, theirs] = [await send("GET", path), await service.call("GET", path, { key })];
      expect(ours.text).toBe(theirs.text);
      const link = theirs.headers.get("Link")?.replace("/v1/", "/admin/") ?? null;
      expect(ours.headers.get("Link")).toBe(link);
    }
  });

  test("a count keeps what changed since its row, once, and is refused where that is not known", async () => {
    await service.addPets({ petId: 5_000n, quantity: 10 });
    const { cursor } = await stock();
    const seq = Number(/\d+$/.exec(cursor)![0]);
    const sold = { changes: [{ petId: 5_000, delta: -2 }] };
    const body = JSON.stringify(sold);
    expect((await service.call("POST", "/changes", { key, body })).status).toBe(200);
    const count = { petId: 5_000, quantity: 12, countedAt: seq, reason: "Shelf 3" };
    const headers = { "Idempotency-Key": "count-1" };
    const apply = () => send("POST", "/changes", { changes: [count] }, headers);
    const first = await apply();
    expect(first.json).toMatchObject({ entries: [{ quantity: 10 }] });
    expect(await lastRow()).toMatchObject({
      cause: "count",
      keyId: operator.id,
      reason: "Shelf 3 (counted 12, 2 fewer since)",
    });
    // What was stored by the time of the count belongs before it, heard of or not.
    const later = { ...count, countedTime: new Date(service.clock.now()).toISOString() };
    const timed = await send("POST", "/changes", { changes: [later] });
    expect(timed.json).toMatchObject({ entries: [{ quantity: 12 }] });
    // Sent again, nothing is added. Applied again, the same count changes nothing either.
    const again = await apply();
    expect([again.text, again.headers.get("idempotent-replayed")]).toEqual([first.text, "true"]);
    const other = { changes: [{ ...count, countedAt: seq - 1 }] };
    expectError(await send("POST", "/changes", other, headers), "idempotency_key_reused");
    await service.restart();
    const long = { petId: 5_000, quantity: 12, countedAt: cursor, reason: "🐢".repeat(200) };
    const longer = await send("POST", "/changes", { changes: [long] });
    expect(longer.json).toMatchObject({ entries: [{ quantity: 10 }] });
    const { reason } = await lastRow();
    expect(reason).toEndWith("🐢 (counted 12, 2 fewer since)");
    expect([...reason!]).toHaveLength(200);

    const refused = [
      [
        { quantity: 1, countedAt: seq },
        "insufficient_stock",
        "The quantity would be -1: counted 1, 2 fewer since. The stored quantity is 10. Count again.",
      ],
      [{ quantity: 1, countedAt: 0 }, "version_conflict", "Count again"],
      [{ quantity: 1, countedAt: `x${cursor}` }, "version_conflict", "Count again"],
      [{ quantity: 1, countedAt: seq + 1_000 }, "version_conflict", "Count again"],
      [{ quantity: 1, countedAt: String(seq) }, "invalid_request", "'countedAt'"],
      [{ delta: 1, countedAt: seq }, "invalid_request", "'quantity'"],
      [{ quantity: 1, countedTime: "2026-11-15T12:00:00Z" }, "invalid_request", "'countedTime'"],
      [{ quantity: 1, countedAt: seq, countedTime: "noon" }, "invalid_request", "'countedTime'"],
    ] as const;
    await expectUnchanged(service.store, async () => {
      for (const [change, code, text] of refused) {
        const batch = await send("POST", "/changes", { changes: [{ petId: 5_000, ...change }] });
        expectError(batch, code, code === "invalid_request" ? 0 : 1);
        expect(batch.text).toContain("Change 0 (pet 5000): ");
        expect(batch.text).toContain(text);
      }
      // Clients of the API cannot apply counts.
      const changes = [{ petId: 5_000, quantity: 1, countedAt: seq }];
      const sent = { key, body: JSON.stringify({ changes }) };
      expectError(await service.call("POST", "/changes", sent), "invalid_request");
    });
  });
});
