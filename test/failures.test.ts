import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { verify } from "../src/domain/verify.ts";
import { expectError } from "./support/answers.ts";
import { startTestService } from "./support/service.ts";

test("a bug is answered with a fixed 500, all headers, and logged under its request id", async () => {
  const service = await startTestService();
  const { text: key } = await service.issueKey();
  await service.call("GET", "/store/orders", { key });
  const database = new Database(service.databaseUrl.slice("sqlite:".length));
  database.run("ALTER TABLE orders RENAME TO elsewhere");
  database.close();
  const answer = await service.call("GET", "/store/orders", { key });
  expectError(answer, "internal_error");
  const requestId = answer.headers.get("X-Request-Id")!;
  expect(answer.text).toContain(requestId);
  expect(answer.text).not.toContain("orders");
  const lines = service.logged.filter((line) => line.includes(requestId));
  expect(lines).toHaveLength(1);
  expect(lines[0]).toContain("no such table");
  expect(lines[0]).not.toContain(key);
  // One operation's trouble is its own.
  expect((await service.call("GET", "/inventory", { key })).status).toBe(200);
  await service.stop();
});

test("updates beyond the queue are refused with 503 and Retry-After, and only those", async () => {
  const service = await startTestService("sqlite", {
    "writes-waiting-max": "2",
    "writes-per-group-max": "1",
  });
  const { text: key } = await service.issueKey();
  await service.addPets({ petId: 1n });
  const answers = await Promise.all(
    Array.from({ length: 60 }, (_, quantity) =>
      service.call("PATCH", "/inventory/1", { key, body: JSON.stringify({ quantity }) }),
    ),
  );
  const refused = answers.filter(({ status }) => status !== 200);
  expect(refused.length).toBeGreaterThan(0);
  for (const answer of refused) {
    expectError(answer, "unavailable");
    expect(answer.headers.get("Retry-After")).toBe("1");
  }
  const rows = await service.store.inventory.ledgerAfter(1, 100);
  expect(rows).toHaveLength(answers.length - refused.length);
  expect((await service.store.transfer.snapshot(verify)).faults).toEqual([]);
  expect(
    (await service.call("PATCH", "/inventory/1", { key, body: '{"quantity":1}' })).status,
  ).toBe(200);
  await service.stop();
});
