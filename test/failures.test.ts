import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { verify } from "../src/domain/verification/verify.ts";
import { expectError } from "./support/responses.ts";
import { startTestService } from "./support/service.ts";

test("a bug returns a fixed 500 with all headers and is logged with its request id", async () => {
  const service = await startTestService();
  const { text: key } = await service.issueKey();
  await service.call("GET", "/store/orders", { key });
  const database = new Database(service.databaseUrl.slice("sqlite:".length));
  database.run("ALTER TABLE orders RENAME TO elsewhere");
  database.close();
  const response = await service.call("GET", "/store/orders", { key });
  expectError(response, "internal_error");
  const requestId = response.headers.get("X-Request-Id")!;
  expect(response.text).toContain(requestId);
  expect(response.text).not.toContain("orders");
  const lines = service.logged.filter((line) => line.includes(requestId));
  expect(lines).toHaveLength(1);
  expect(lines[0]).toContain("no such table");
  expect(lines[0]).not.toContain(key);
  // Other operations are not affected.
  expect((await service.call("GET", "/inventory", { key })).status).toBe(200);
  await service.stop();
});

test("updates beyond the queue return 503 with Retry-After, and only those", async () => {
  // Fewer than a flag can set.
  const bounds = { writesWaitingMax: 2, writesPerGroupMax: 1 };
  const service = await startTestService("sqlite", {}, bounds);
  const { text: key } = await service.issueKey();
  await service.addPets({ petId: 1n });
  const responses = await Promise.all(
    Array.from({ length: 60 }, (_, quantity) =>
      service.call("PATCH", "/inventory/1", { key, body: JSON.stringify({ quantity }) }),
    ),
  );
  const rejected = responses.filter(({ status }) => status !== 200);
  expect(rejected.length).toBeGreaterThan(0);
  for (const response of rejected) {
    expectError(response, "unavailable");
    expect(response.headers.get("Retry-After")).toBe("1");
  }
  const rows = await service.store.inventory.ledgerAfter(1, 100);
  expect(rows).toHaveLength(responses.length - rejected.length);
  expect((await service.store.transfer.snapshot(verify)).faults).toEqual([]);
  expect(
    (await service.call("PATCH", "/inventory/1", { key, body: '{"quantity":1}' })).status,
  ).toBe(200);
  await service.stop();
});
