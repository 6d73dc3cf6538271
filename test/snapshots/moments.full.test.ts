import { beforeAll, expect, test } from "bun:test";
import fc from "fast-check";
import type { LedgerRow } from "../../src/domain/ledger/ledger.ts";
import { startCheckpoints } from "../../src/domain/snapshots/checkpoints.ts";
import { onEngine } from "../support/conformance.ts";
import { runs } from "../support/properties/runs.ts";
import { expectError } from "../support/responses.ts";
import { surfaceEngine, type TestService } from "../support/service.ts";
import { foldedAt, foldedDifferences } from "../support/snapshots.ts";

/** The body of a snapshot, from a fold that is as simple as possible. */
function snapshotText(rows: readonly LedgerRow[], seq: number): string {
  const items = foldedAt(rows, seq).map(
    ({ petId, quantity, status }) =>
      `{"petId":${petId},"quantity":${quantity},"status":"${status}"}`,
  );
  return `[${items.join()}]`;
}

function diffText(rows: readonly LedgerRow[], from: number, to: number): string {
  const items = foldedDifferences(rows, from, to).map(
    ({ petId, before, after }) =>
      `{"petId":${petId},"before":${JSON.stringify(before)},"after":${JSON.stringify(after)}}`,
  );
  return `[${items.join()}]`;
}

/** The last row at or before a time. */
function rowAt(rows: readonly LedgerRow[], time: number): number {
  return rows.findLast((row) => row.at <= time)?.seq ?? 0;
}

async function addCheckpoints({ store }: TestService, rowsMin: number): Promise<void> {
  const task = startCheckpoints({ store, log: () => {}, rowsMin });
  await task.run();
  await task.stop();
}

const step = fc.oneof(
  fc.record({
    petId: fc.constantFrom(1n, 2n, -(2n ** 63n), 2n ** 63n - 1n),
    quantity: fc.oneof(fc.nat(2), fc.maxSafeNat()),
  }),
  fc.record({ moveMs: fc.integer({ min: -2_000, max: 2_000 }) }),
  fc.record({ imported: fc.bigInt({ min: -4n, max: 4n }) }),
);

onEngine(surfaceEngine, "the inventory of the past", (service, engine) => {
  let key: string;
  beforeAll(async () => {
    ({ text: key } = await service().issueKey({ limits: { perMinute: 1e6, perDay: 1e6 } }));
  });
  const ledger = () => service().store.inventory.ledgerAfter(0, 100_000);
  const get = (path: string, headers = {}) => service().call("GET", path, { key, headers });

  test("is empty before the first change, as of any time and as of row 0", async () => {
    for (const moment of ["0", "1970-01-01", "2026-11-15T11:59:59.999Z"]) {
      const response = await get(`/snapshots/${moment}`);
      expect([response.status, response.text]).toEqual([200, "[]"]);
      expect(response.headers.get("Content-Location")).toBe("/v1/snapshots/0");
      expect(response.headers.get("ETag")).toBe('"0"');
    }
    expect((await get("/snapshots/0/diff?to=0")).text).toBe("[]");
  });

  test("is exact for every row and every time, with equal times and a clock that goes back", async () => {
    await service().addPets(
      { petId: 1n },
      { petId: 2n, status: "sold" },
      { petId: -(2n ** 63n) },
      { petId: 2n ** 63n - 1n },
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 12 }), fc.nat(), async (steps, random) => {
        for (const one of steps) {
          if ("moveMs" in one) service().clock.advance(one.moveMs);
          else if ("imported" in one)
            await service().addPets({ petId: one.imported, status: "pending" });
          else {
            const body = JSON.stringify({ quantity: one.quantity });
            await service().call("PATCH", `/inventory/${one.petId}`, { key, body });
          }
        }
        await addCheckpoints(service(), 5);
        const rows = await ledger();
        const last = rows.length;
        const seq = random % (last + 1);
        const snapshot = await service().call("GET", `/snapshots/${seq}`, { key });
        expect(snapshot.text).toBe(snapshotText(rows, seq));
        const near = rows[random % last]!.at + (random % 3) - 1;
        // Later times are in the future where the clock went back.
        const time = Math.min(near, rows.at(-1)!.at);
        const instant = new Date(time).toISOString();
        const atTime = await service().call("GET", `/snapshots/${instant}`, { key });
        expect(atTime.headers.get("Content-Location")).toBe(`/v1/snapshots/${rowAt(rows, time)}`);
        expect(atTime.text).toBe(snapshotText(rows, rowAt(rows, time)));
        for (const [from, to] of [
          [seq, last],
          [last, seq],
        ] as const) {
          const diff = await service().call("GET", `/snapshots/${from}/diff?to=${to}`, { key });
          expect(diff.text).toBe(diffText(rows, from, to));
        }
        const diff = await service().call("GET", `/snapshots/${instant}/diff?to=${seq}`, { key });
        expect(diff.text).toBe(diffText(rows, rowAt(rows, time), seq));
      }),
      // The same code folds rows on every engine, so that one engine has more runs.
      runs(engine === "sqlite" ? 8 : 5),
    );
    expect((await service().store.checkpoints.listCheckpoints()).length).toBeGreaterThan(2);
  });

  test("as of the last row is the current list", async () => {
    const { seq } = await service().store.inventory.readHead();
    expect((await get(`/snapshots/${seq}`)).text).toBe((await get("/inventory")).text);
  });

  test("has an ETag that survives a restart and more changes, and answers 304 to it", async () => {
    const { seq } = await service().store.inventory.readHead();
    const first = await get(`/snapshots/${seq}`);
    const diff = await get(`/snapshots/1/diff?to=${seq}`);
    const [tag, diffTag] = [first, diff].map(({ headers }) => headers.get("ETag")!);
    expect(tag).toMatch(new RegExp(`^"[^"]+-${seq}"$`));
    expect(diffTag).toMatch(new RegExp(`^"[^"]+-1\\.\\.[^"]+-${seq}"$`));
    await service().addPets({ petId: 500n });
    await service().restart();
    for (const [path, known, location] of [
      [`/snapshots/${seq}`, tag, `/v1/snapshots/${seq}`],
      [`/snapshots/1/diff?to=${seq}`, diffTag, `/v1/snapshots/1/diff?to=${seq}`],
    ] as const) {
      const again = await get(path);
      expect(again.headers.get("ETag")).toBe(known!);
      expect(again.headers.get("Content-Location")).toBe(location);
      const known304 = await get(path, { "If-None-Match": `"other", W/${known}` });
      expect([known304.status, known304.text]).toEqual([304, ""]);
      expect(known304.headers.get("ETag")).toBe(known!);
      expect((await get(path, { "If-None-Match": '"other"' })).status).toBe(200);
    }
    expect((await get(`/snapshots/${seq}`)).text).toBe(first.text);
    expect((await get(`/snapshots/${seq + 1}`)).headers.get("ETag")).not.toBe(tag!);
  });

  test("is not found for a row that does not exist yet", async () => {
    const { seq } = await service().store.inventory.readHead();
    const message = `The ledger has no row ${seq + 1}. Its last row is ${seq}.`;
    for (const path of [
      `/snapshots/${seq + 1}`,
      `/snapshots/${seq + 1}/diff?to=1`,
      `/snapshots/1/diff?to=${seq + 1}`,
    ]) {
      const response = await get(path);
      expectError(response, "not_found");
      expect(response.json).toMatchObject({ message });
    }
  });

  test("is rejected for a time in the future, unless rows have it", async () => {
    const tip = (await ledger()).at(-1)!.at;
    service().clock.set(tip - 1_000);
    expect((await get(`/snapshots/${new Date(tip).toISOString()}`)).status).toBe(200);
    service().clock.set(tip + 1_000);
    expect((await get(`/snapshots/${new Date(tip + 1_000).toISOString()}`)).status).toBe(200);
    const future = new Date(tip + 1_001).toISOString();
    for (const path of [`/snapshots/${future}`, `/snapshots/0/diff?to=${future}`]) {
      const response = await get(path);
      expectError(response, "invalid_request");
      expect(response.json).toMatchObject({ message: `The time ${future} is in the future.` });
    }
  });

  // What follows does not depend on the store.
  if (engine === "postgres") return;

  test("has headers that HEAD returns without a body", async () => {
    for (const path of ["/snapshots/1", "/snapshots/1/diff?to=2"]) {
      const [full, bare] = await Promise.all([
        service().call("GET", path, { key }),
        service().call("HEAD", path, { key }),
      ]);
      expect([bare.status, bare.text]).toEqual([200, ""]);
      for (const name of ["ETag", "Content-Location", "Cache-Control", "X-Stability"]) {
        expect(bare.headers.get(name)).toBe(full.headers.get(name));
      }
      expect(bare.headers.get("Content-Length")).toBeNull();
    }
  });

  test("accepts an offset from UTC, and a plus sign in the query as it is", async () => {
    const rows = await ledger();
    const time = rows.at(-1)!.at;
    const local = new Date(time + 3_600_000).toISOString().replace("Z", "+01:00");
    const location = `/v1/snapshots/${rows.length}`;
    expect((await get(`/snapshots/${local}`)).headers.get("Content-Location")).toBe(location);
    const diff = await get(`/snapshots/0/diff?to=${local}`);
    expect(diff.headers.get("Content-Location")).toBe(`/v1/snapshots/0/diff?to=${rows.length}`);
  });

  test("accepts every form of a time in RFC 3339, and ignores what is shorter than a millisecond", async () => {
    const rows = await ledger();
    const text = new Date(rows.at(-1)!.at).toISOString();
    const location = `/v1/snapshots/${rows.length}`;
    for (const form of [
      text.toLowerCase(),
      text.replace("Z", "000Z"),
      text.replace("Z", "999999z"),
    ]) {
      expect([form, (await get(`/snapshots/${form}`)).headers.get("Content-Location")]).toEqual([
        form,
        location,
      ]);
    }
  });

  test("is rejected for anything but a row or a time", async () => {
    const moments = [
      "x",
      "-1",
      "01",
      "1.0",
      "9007199254740992",
      "2026-02-30",
      "2026-11-15T10:00:00",
      "%20",
    ];
    for (const moment of moments) {
      expectError(await get(`/snapshots/${moment}`), "invalid_request");
      expectError(await get(`/snapshots/${moment}/diff?to=0`), "invalid_request");
      expectError(await get(`/snapshots/0/diff?to=${moment}`), "invalid_request");
    }
    expectError(await get("/snapshots/0/diff"), "invalid_request");
    expectError(await get("/snapshots/0/diff?to=1&to=2"), "invalid_request");
  });

  test("has every entry in order when there are many", async () => {
    // The list and the difference are longer than a slice of 8,192 entries.
    const count = 9_000;
    const pets = Array.from({ length: count }, (_, at) => ({
      petId: BigInt((at * 7_919) % count) + 1_000n,
      quantity: at,
    }));
    const { seq: before } = await service().store.inventory.readHead();
    await service().addPets(...pets);
    const middle = before + count / 4;
    await addCheckpoints(service(), 2_000);
    const rows = await service().store.inventory.ledgerAfter(0, 2 * count);
    expect((await get(`/snapshots/${middle}`)).text).toBe(snapshotText(rows, middle));
    expect((await get(`/snapshots/${before + count}`)).text).toBe(
      snapshotText(rows, before + count),
    );
    expect((await get(`/snapshots/${before + count}/diff?to=${middle}`)).text).toBe(
      diffText(rows, before + count, middle),
    );
  });
});
