import { beforeAll, expect, test } from "bun:test";
import { onEveryEngine } from "../support/conformance.ts";
import { expectError } from "../support/responses.ts";

onEveryEngine("moments", (service) => {
  let key: string;
  beforeAll(async () => {
    key = (await service().issueKey()).text;
  });
  const get = async (path: string, headers: Record<string, string> = {}) =>
    service().call("GET", path, { key, headers });
  const head = async () => (await service().store.inventory.readHead()).seq;
  const set = async (petId: number, quantity: number) => {
    const body = JSON.stringify({ quantity });
    expect((await service().call("PATCH", `/inventory/${petId}`, { key, body })).status).toBe(200);
  };

  test("[moments.snapshot] GET /snapshots/{moment} is the list as it was after any ledger row", async () => {
    const lists = new Map([[await head(), (await get("/inventory")).text]]);
    const remember = async () => lists.set(await head(), (await get("/inventory")).text);
    await service().addPets({ petId: 2n, quantity: 1 });
    await remember();
    await service().addPets({ petId: -(2n ** 63n), status: "sold" });
    await remember();
    for (let round = 0; round < 5; round++) {
      await set(2, round);
      await remember();
    }
    for (const [seq, list] of lists) {
      const snapshot = await get(`/snapshots/${seq}`);
      expect([snapshot.status, snapshot.text]).toEqual([200, list]);
    }
  });

  test("[moments.time] a time stands for the last row at or before it, and a date for its start in UTC", async () => {
    await service().addPets({ petId: 10n, quantity: 0 });
    const { clock } = service();
    clock.advance(3_600_000);
    const start = clock.now();
    await set(10, 1);
    const first = await head();
    await set(10, 2);
    clock.advance(1_000);
    await set(10, 3);
    clock.advance(1_000);
    const rowAt = async (time: number) =>
      (await get(`/snapshots/${new Date(time).toISOString()}`)).headers.get("Content-Location");
    expect(await rowAt(start - 1)).toBe(`/v1/snapshots/${first - 1}`);
    expect(await rowAt(start)).toBe(`/v1/snapshots/${first + 1}`);
    expect(await rowAt(start + 999)).toBe(`/v1/snapshots/${first + 1}`);
    expect(await rowAt(start + 1_000)).toBe(`/v1/snapshots/${first + 2}`);
    const offset = `${new Date(start + 3_600_000).toISOString().slice(0, -1)}+01:00`;
    const sameTime = await get(`/snapshots/${offset}`);
    expect(sameTime.headers.get("Content-Location")).toBe(`/v1/snapshots/${first + 1}`);
    const [day] = new Date(start).toISOString().split("T");
    const midnight = await get(`/snapshots/${day}T00:00:00Z`);
    expect((await get(`/snapshots/${day}`)).text).toBe(midnight.text);
  });

  test("[moments.diff] GET /snapshots/{moment}/diff lists the pets whose stock differs, in both directions", async () => {
    await service().addPets({ petId: 20n, quantity: 5 }, { petId: 21n, quantity: 5 });
    const from = await head();
    await set(20, 3);
    await set(21, 9);
    await set(21, 5);
    await service().addPets({ petId: 22n, quantity: 1, status: "pending" });
    const to = await head();
    const stock = (quantity: number, status = "available") => ({ quantity, status });
    expect((await get(`/snapshots/${from}/diff?to=${to}`)).json).toEqual([
      { petId: 20, before: stock(5), after: stock(3) },
      { petId: 22, before: null, after: stock(1, "pending") },
    ]);
    expect((await get(`/snapshots/${to}/diff?to=${from}`)).json).toEqual([
      { petId: 20, before: stock(3), after: stock(5) },
      { petId: 22, before: stock(1, "pending"), after: null },
    ]);
    expect((await get(`/snapshots/${to}/diff?to=${to}`)).text).toBe("[]");
  });

  test("[moments.not-modified] a snapshot and a diff have a strong ETag, which gets 304 for ever", async () => {
    await service().addPets({ petId: 30n });
    const seq = await head();
    const paths = [`/snapshots/${seq}`, `/snapshots/0/diff?to=${seq}`];
    const before = await Promise.all(paths.map((path) => get(path)));
    await set(30, 7);
    await service().restart();
    for (const [at, path] of paths.entries()) {
      const first = before[at]!;
      const tag = first.headers.get("ETag")!;
      expect(tag).toMatch(/^"[^"]+"$/);
      const again = await get(path, { "If-None-Match": tag });
      expect([again.status, again.text, again.headers.get("ETag")]).toEqual([304, "", tag]);
      expect((await get(path)).text).toBe(first.text);
    }
  });

  test("[moments.limits] before the first row the inventory is empty; past the last row 404, in the future 400", async () => {
    for (const moment of ["0", "1970-01-01"]) {
      expect((await get(`/snapshots/${moment}`)).text).toBe("[]");
    }
    const next = (await head()) + 1;
    expectError(await get(`/snapshots/${next}`), "not_found");
    expectError(await get(`/snapshots/0/diff?to=${next}`), "not_found");
    const later = new Date(service().clock.now() + 1_000).toISOString();
    const future = await get(`/snapshots/${later}`);
    expectError(future, "invalid_request");
    expect(future.text).toContain("is in the future");
    for (const moment of ["x", "01", "-1", "1.5", "2026-02-30", "2026-11-15T10:00:00"]) {
      expectError(await get(`/snapshots/${moment}`), "invalid_request");
      expectError(await get(`/snapshots/0/diff?to=${moment}`), "invalid_request");
    }
    expectError(await get("/snapshots/0/diff"), "invalid_request");
  });
});
