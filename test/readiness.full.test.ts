import { expect, test } from "bun:test";
import { SQL } from "bun";
import { boundless, startFleet } from "./support/instances/fleet.ts";
import { startPostgres } from "./support/postgres.ts";
import { until } from "./support/until.ts";

const patienceMs = 15_000;

test("an instance whose database stores nothing in time is not ready, and is again when it does", async () => {
  await using stack = new AsyncDisposableStack();
  const server = await startPostgres();
  stack.defer(() => server.destroy());
  const fleet = await startFleet(await server.freshDatabase(), { size: 1, pets: [1] });
  stack.defer(() => fleet.leave());
  const operator = new SQL(server.url(), { max: 1 });
  stack.defer(() => operator.close());
  const { key } = await fleet.issueKey(...boundless);
  const ready = async () => (await fleet.call(0, "GET", "~/readyz")).status;
  const patch = async (quantity: number) => {
    const body = `{"quantity":${quantity}}`;
    return (await fleet.call(0, "PATCH", "/inventory/1", { key, body })).status;
  };
  expect(await patch(1)).toBe(200);
  expect(await ready()).toBe(200);
  // Commits wait for a standby that does not exist. Reads, and the counts of requests, do not.
  await operator.unsafe("ALTER SYSTEM SET synchronous_standby_names = 'nobody'");
  await operator.unsafe("SELECT pg_reload_conf()");
  await until(async () => (await patch(2)) === 503, patienceMs, "a commit that waits");
  expect(await ready()).toBe(503);
  expect((await fleet.call(0, "GET", "/inventory", { key })).status).toBe(200);
  await operator.unsafe("ALTER SYSTEM RESET synchronous_standby_names");
  await operator.unsafe("SELECT pg_reload_conf()");
  await until(async () => (await ready()) === 200, patienceMs, "readiness");
  expect(await patch(3)).toBe(200);
});
