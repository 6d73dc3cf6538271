import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { verify } from "../../src/domain/verification/verify.ts";
import { issueOperator } from "../support/admin/operators.ts";
import { openFeed } from "../support/feed.ts";
import { expectError, expectUnchanged } from "../support/responses.ts";
import { startTestService, surfaceEngine, type TestService } from "../support/service.ts";

const petId = 2n ** 63n - 1n;

describe.each([surfaceEngine])("pets in the operator API on %s", (engine) => {
  let service: TestService;
  let operator: { id: string; text: string };
  let key: string;
  beforeAll(async () => {
    service = await startTestService(engine);
    operator = await issueOperator(service, "Ada");
    key = (await service.issueKey()).text;
    await service.addPets({ petId: 1n, name: "Luna", quantity: 4 });
  });
  afterAll(() => service.stop());

  const send = (method: string, path: string, body?: string) =>
    service.call(method, `~/admin${path}`, {
      key: operator.text,
      ...(body === undefined ? {} : { body }),
    });
  const get = (path: string) => service.call("GET", path, { key });
  const rowOf = (row: string) => JSON.parse(row.replace(/"petId":\d+/, '"petId":0'));

  test("a pet is created, changed, removed and created again, and everybody sees it", async () => {
    const feed = await openFeed(service.baseUrl, { key });
    const details = '"name":"Rex","category":"dogs","tags":["a"],"photoUrls":[]';
    const created = await send(
      "POST",
      "/pets",
      `{"petId":${petId},${details},"quantity":3,"status":"sold","reason":"arrived"}`,
    );
    const stock = '"quantity":3,"status":"sold"';
    expect(created.text).toStartWith(`{"petId":${petId},${details},`);
    expect(created.text).toEndWith(`,${stock},"version":2}`);
    expect((await send("GET", `/pets/${petId}`)).text).toBe(created.text);
    expect((await send("GET", `/pets?ids=${petId},1,-5,1`)).text).toBe(
      `[{"petId":1,"name":"Luna","category":null},{"petId":${petId},"name":"Rex","category":"dogs"}]`,
    );
    expect((await get("/inventory")).text).toContain(`{"petId":${petId},${stock}}`);
    expect(rowOf((await feed.nextOf("change")).text)).toMatchObject({
      seq: 2,
      before: null,
      after: { quantity: 3, status: "sold" },
      cause: "console",
      keyId: operator.id,
      keyName: "Ada",
      reason: "arrived",
      requestId: created.headers.get("X-Request-Id"),
    });

    const changed = await send("PATCH", `/pets/${petId}`, '{"name":"<b>Max</b>","category":null}');
    expect(changed.json).toMatchObject({
      name: "<b>Max</b>",
      category: null,
      tags: ["a"],
      version: 2,
    });
    await send("PATCH", `/pets/${petId}`, '{"name":"<b>Max</b>"}');
    expect(await service.store.audit.listEntries({ action: "pet.changed" }, 9)).toMatchObject([
      {
        keyId: operator.id,
        keyName: "Ada",
        requestId: changed.headers.get("X-Request-Id"),
        target: `${petId}`,
        details: {
          name: { from: "Rex", to: "<b>Max</b>" },
          category: { from: "dogs", to: null },
        },
      },
    ]);

    expect((await send("DELETE", `/pets/${petId}?expectedVersion=2&reason=gone`)).status).toBe(204);
    expect(rowOf((await feed.nextOf("change")).text)).toMatchObject({
      seq: 3,
      after: null,
      reason: "gone",
    });
    feed.leave();
    for (const path of [`/inventory/${petId}`, `/pets/${petId}`]) {
      expectError(await get(path), "not_found");
    }
    expectError(await send("PATCH", `/stock/${petId}`, '{"quantity":1}'), "not_found");
    const update = { key, body: '{"quantity":1}' };
    expectError(await service.call("PATCH", `/inventory/${petId}`, update), "not_found");
    expect((await get("/inventory")).json).toEqual([
      { petId: 1, quantity: 4, status: "available" },
    ]);
    expect((await get("/snapshots/2")).text).toContain(`{"petId":${petId},${stock}}`);
    expect((await get("/snapshots/2/diff?to=3")).text).toBe(
      `[{"petId":${petId},"before":{${stock}},"after":null}]`,
    );
    const history = await get(`/inventory/${petId}/history`);
    expect(history.json).toMatchObject([{ seq: 3 }, { seq: 2 }]);
    const undone = await send("POST", "/changes/3/undo");
    expectError(undone, "invalid_request");
    expect((undone.json as { message: string }).message).toContain("Create the pet again");

    await send("POST", "/pets", `{"petId":${petId},"name":"Rex"}`);
    const again = (await get(`/inventory/${petId}/history`)).json;
    expect(again).toMatchObject([{ seq: 4, before: null }, { seq: 3 }, { seq: 2 }]);
    expect(await service.store.transfer.snapshot(verify)).toMatchObject({ rows: 4, faults: [] });
  });

  test("a pet that somebody has changed is not removed, and the message says who", async () => {
    await service.call("PATCH", "/inventory/1", { key, body: '{"quantity":9}' });
    const refused = await expectUnchanged(service.store, () =>
      send("DELETE", "/pets/1?expectedVersion=1"),
    );
    expectError(refused, "version_conflict");
    expect((refused.json as { message: string }).message).toContain("now 9 available, by test at");
  });

  test("of changes at the same time the last one stays, and the log has each with what it replaced", async () => {
    const names = ["a", "b", "c", "d"];
    const renamed = names.map((name) => send("PATCH", "/pets/1", JSON.stringify({ name })));
    expect((await Promise.all(renamed)).map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    const rows = await service.store.audit.listEntries({ target: "1" }, 4);
    const steps = rows
      .toReversed()
      .map(({ details }) => details.name as { from: string; to: string });
    const { name } = (await send("GET", "/pets/1")).json as { name: string };
    const chain = [...steps.map(({ from }) => from), name];
    expect(chain).toEqual(["Luna", ...steps.map(({ to }) => to)]);
    expect(steps.map(({ to }) => to).sort()).toEqual(names);
  });

  test("long lists are shortened in the audit log, and nowhere else", async () => {
    const tags = Array.from({ length: 100 }, (_, at) => `${at}${"x".repeat(300)}`);
    const changed = await send("PATCH", "/pets/1", JSON.stringify({ tags }));
    expect(changed.json).toMatchObject({ tags });
    const [entry] = await service.store.audit.listEntries({ target: "1" }, 1);
    expect(JSON.stringify(entry!.details).length).toBeLessThan(2_000);
    expect(JSON.stringify(entry!.details)).toContain("… and 90 more");
  });
});

test("another instance shows a pet as soon as one instance has created or removed it", async () => {
  const one = await startTestService("postgres");
  const other = await startTestService("postgres", { database: one.databaseUrl });
  try {
    const operator = (await issueOperator(one)).text;
    const { text: key } = await one.issueKey();
    const lists = () =>
      Promise.all(
        [one, other].map(
          async (service) => (await service.call("GET", "/inventory", { key })).json,
        ),
      );
    for (let round = 0; round < 3; round++) {
      const body = `{"petId":${round},"name":"Rex"}`;
      const added = await one.call("POST", "~/admin/pets", { key: operator, body });
      expect(added.status, added.text).toBe(201);
      const entry = { petId: round, quantity: 0, status: "available" };
      expect(await lists()).toEqual([[entry], [entry]]);
      const removed = await other.call("DELETE", `~/admin/pets/${round}`, { key: operator });
      expect(removed.status, removed.text).toBe(204);
      expect(await lists()).toEqual([[], []]);
    }
  } finally {
    await other.stop();
    await one.stop();
  }
});
