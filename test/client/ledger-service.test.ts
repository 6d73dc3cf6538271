import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import assert from "node:assert/strict";
import { isApiError, isConflictError, type LedgerRow } from "../../client/src/index.ts";
import { plans } from "../../src/domain/limits/plans.ts";
import { rejectionOf } from "../support/client/rejection.ts";
import { highestId, StockedService } from "../support/client/stocked-service.ts";

let stocked: StockedService;
beforeAll(async () => {
  stocked = await StockedService.start();
});
afterAll(() => stocked[Symbol.asyncDispose]());

const openSession = () => stocked.openSession(plans.business);

async function collect(rows: AsyncIterable<LedgerRow>): Promise<LedgerRow[]> {
  const found: LedgerRow[] = [];
  for await (const row of rows) found.push(row);
  return found;
}

describe("a conditional update", () => {
  test("is applied to the version that was read, and rejected with the current entry otherwise", async () => {
    using session = await openSession();
    const { client } = session;
    const first = await client.getInventory(1n);
    const second = await client.updateInventory(1n, { quantity: 5 }, { ifMatch: first.etag });
    const late = client.updateInventory(1n, { quantity: 6 }, { ifMatch: first.etag });
    const error = await rejectionOf(late);
    assert(isConflictError(error));
    expect(error.status).toBe(412);
    expect(error.current).toEqual(second);
    expect(error.etag).toBe(second.etag);
    expect(error.message).toContain("5");
    const ifMatch = [first.etag, second.etag];
    expect((await client.updateInventory(1n, { quantity: 7 }, { ifMatch })).quantity).toBe(7);
    const any = await client.updateInventory(1n, { quantity: 8 }, { ifMatch: "*" });
    expect(await client.getInventory(1n)).toEqual(any);
  });

  test("has no current entry if the key may not read it", async () => {
    using session = await openSession();
    const { text } = await stocked.service.issueKey({ scopes: ["inventory:write"] });
    const writer = session.createClient({ apiKey: text });
    const old = await writer.updateInventory(2n, { quantity: 1 });
    const { etag } = await writer.updateInventory(2n, { quantity: 2 });
    const late = writer.updateInventory(2n, { quantity: 3 }, { ifMatch: old.etag });
    const error = await rejectionOf(late);
    expect(isConflictError(error) && [error.current, error.etag]).toEqual([undefined, etag]);
  });

  test("of a pet that does not exist rejects with not_found", async () => {
    using session = await openSession();
    const error = await rejectionOf(session.client.getInventory(404n));
    expect(isApiError(error) && error.code).toBe("not_found");
  });
});

test("adjustments of many clients at once are all applied, none is lost", async () => {
  using session = await openSession();
  const clients = Array.from({ length: 4 }, () => session.createClient({ backoffBaseMs: 0 }));
  const { quantity } = await session.client.getInventory(2n);
  const increase = (entry: { quantity: number }) => entry.quantity + 1;
  await session.run(
    Promise.all(
      clients.flatMap((client) =>
        [1, 2, 3].map(() => client.adjustInventory(2n, increase, { roundsMax: 50 })),
      ),
    ),
  );
  expect((await session.client.getInventory(2n)).quantity).toBe(quantity + 12);
});

test("an adjustment that is repeated with its idempotencyKey is not applied again", async () => {
  using session = await openSession();
  const { client } = session;
  const options = { idempotencyKey: "found-one-more" };
  const increase = (entry: { quantity: number }) => entry.quantity + 1;
  const adjusted = await client.adjustInventory(1n, increase, options);
  const error = await rejectionOf(client.adjustInventory(1n, increase, options));
  expect(isApiError(error) && error.code).toBe("idempotency_key_reused");
  expect(await client.getInventory(1n)).toEqual(adjusted);
});

describe("a batch", () => {
  test("is applied in order and returns the version of each change", async () => {
    using session = await openSession();
    const { seq } = await session.client.ledgerHead();
    const entries = await session.client.applyChanges([
      { petId: highestId, quantity: 20, reason: "delivery" },
      { petId: 1n, quantity: 3 },
      { petId: highestId, delta: -5, reason: "sold 5 für Zoë" },
    ]);
    expect(entries).toEqual([
      { petId: highestId, quantity: 20, status: "sold", version: seq + 1 },
      { petId: 1n, quantity: 3, status: "available", version: seq + 2 },
      { petId: highestId, quantity: 15, status: "sold", version: seq + 3 },
    ]);
    const [row] = await collect(session.client.history(highestId));
    expect(row?.reason).toBe("sold 5 für Zoë");
    expect(row?.seq).toBe(seq + 3);
  });

  test("is rejected as a whole, with the code of the change that cannot be applied", async () => {
    using session = await openSession();
    const { client } = session;
    const before = await client.listInventory();
    const { seq } = await client.ledgerHead();
    const first = { petId: 1n, delta: 1 };
    const { quantity } = before.find(({ petId }) => petId === 1n)!;
    for (const [change, code] of [
      [{ petId: 404n, delta: 1 }, "not_found"],
      [{ petId: 1n, delta: -1000 }, "insufficient_stock"],
      [{ petId: 1n, delta: 1, expectedVersion: 1_000_000 }, "version_conflict"],
      [{ petId: 1n, quantity: -1 }, "invalid_request"],
    ] as const) {
      const error = await rejectionOf(client.applyChanges([first, change]));
      assert(isApiError(error));
      expect(error.code).toBe(code);
      expect(String(error)).toContain("1");
      const line = { index: 1, petId: change.petId, code };
      const isShort = code === "insufficient_stock";
      const expected = [{ ...line, ...(isShort && { requested: 1000, available: quantity + 1 }) }];
      expect(error.details).toEqual(code === "invalid_request" ? undefined : expected);
      expect(JSON.stringify(error)).toContain(`"code":"${code}"`);
    }
    expect(isApiError(await rejectionOf(client.applyChanges([])))).toBe(true);
    expect(await client.listInventory()).toEqual(before);
    expect((await client.ledgerHead()).seq).toBe(seq);
  });
});

describe("the ledger", () => {
  test("is complete page by page, by pet and with filters", async () => {
    using session = await openSession();
    const { client } = session;
    await client.updateInventory(1n, { quantity: 4 }, { reason: "recount" });
    const { seq, at } = await client.ledgerHead();
    const all = await collect(client.changes({ limit: 2 }));
    expect(all.map((row) => row.seq)).toEqual(Array.from({ length: seq }, (_, index) => index + 1));
    expect(all.at(-1)).toMatchObject({
      petId: 1n,
      after: { quantity: 4, status: "available" },
      cause: "api",
      keyId: session.keyId,
      keyName: "test",
      reason: "recount",
      at,
    });
    const ofPet = all.filter(({ petId }) => petId === 1n).reverse();
    expect(await collect(client.history(1n, { limit: 2 }))).toEqual(ofPet);
    const imported = all.filter(({ cause }) => cause === "import");
    expect(await collect(client.changes({ cause: "import", limit: 1 }))).toEqual(imported);
    const own = await collect(client.changes({ key: session.keyId, since: new Date(at ?? 0) }));
    expect(own.map(({ keyId }) => keyId)).toEqual([session.keyId]);
    const { rows: earlier } = await client.listChanges({ until: new Date(at ?? 0) });
    expect(earlier).toEqual(all.filter((row) => row.at < (at ?? "")));
    const page = await client.listChanges({ after: seq - 1 });
    expect(page).toEqual({ rows: all.slice(-1), nextAfter: null });
    const { rows, nextBefore } = await client.listHistory(1n, { limit: 1 });
    expect([rows, nextBefore]).toEqual([ofPet.slice(0, 1), ofPet[0]?.seq ?? 0]);
  });

  test("gives the stock of every moment and the difference between two", async () => {
    using session = await openSession();
    const { client } = session;
    const { seq } = await client.ledgerHead();
    const before = await client.listInventory();
    session.clock.advanceTo(session.clock.now() + 60_000);
    const [entry] = before;
    await client.updateInventory(1n, { quantity: (entry?.quantity ?? 0) + 9 });
    expect(await client.snapshot(seq)).toEqual(before);
    expect(await client.snapshot(new Date(session.clock.now() - 1))).toEqual(before);
    expect(await client.snapshot(BigInt(seq + 1))).toEqual(await client.listInventory());
    expect(await client.snapshot(0)).toEqual([]);
    const status = "available";
    const quantity = entry?.quantity ?? 0;
    expect(await client.diff(seq, seq + 1)).toEqual([
      { petId: 1n, before: { quantity, status }, after: { quantity: quantity + 9, status } },
    ]);
    expect(await client.diff(seq, seq)).toEqual([]);
    const error = await rejectionOf(client.snapshot(seq + 100));
    expect(isApiError(error) && error.code).toBe("not_found");
  });

  test("is closed to a key without the scope history:read", async () => {
    using session = await openSession();
    const { text } = await stocked.service.issueKey({ scopes: ["inventory:read"] });
    const client = session.createClient({ apiKey: text });
    for (const call of [client.ledgerHead(), client.listChanges(), client.snapshot(1)]) {
      const error = await rejectionOf(call);
      expect(isApiError(error) && error.code).toBe("insufficient_scope");
    }
  });
});
