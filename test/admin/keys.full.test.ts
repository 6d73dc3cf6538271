import { expect, test } from "bun:test";
import { SQL } from "bun";
import { issueOperator } from "../support/admin/operators.ts";
import { expectError } from "../support/responses.ts";
import { startTestService } from "../support/service.ts";
import { until } from "../support/until.ts";

test("while an import blocks changes on PostgreSQL, keys are listed, and a refused change is never stored", async () => {
  const service = await startTestService("postgres");
  await using stack = new AsyncDisposableStack();
  stack.defer(() => service.stop());
  const { text: key } = await issueOperator(service);
  await service.addPets({ petId: 1n, name: "Luna", quantity: 4 });
  await using pool = new SQL(service.databaseUrl, { max: 2 });
  const list = async () => (await service.call("GET", "~/admin/keys", { key })).json;
  const countWaiting = async (): Promise<number> =>
    (
      await pool`SELECT count(*)::int AS waiting FROM pg_stat_activity
        WHERE datname = current_database() AND wait_event_type = 'Lock'`
    )[0].waiting;
  await pool.begin(async (holder) => {
    await holder`SELECT FROM store, pets FOR UPDATE`;
    const refused = [
      service.call("POST", "~/admin/keys", { key, body: '{"name":"Till","plan":"free"}' }),
      service.call("PATCH", "~/admin/stock/1", { key, body: '{"quantity":9}' }),
      service.call("PATCH", "~/admin/pets/1", { key, body: '{"name":"Rex"}' }),
    ];
    await until(async () => (await countWaiting()) === refused.length, 2_500, "all wait");
    expect(await list()).toHaveLength(1);
    for (const response of await Promise.all(refused)) {
      expectError(response, "unavailable");
      expect(response.json).toMatchObject({ message: "The store is busy. Try again." });
      expect(response.headers.get("Retry-After")).toBe("1");
    }
  });
  expect(await countWaiting()).toBe(0);
  expect(await list()).toHaveLength(1);
  const pet = await service.call("GET", "~/admin/pets/1", { key });
  expect(pet.json).toMatchObject({ name: "Luna", quantity: 4 });
});
