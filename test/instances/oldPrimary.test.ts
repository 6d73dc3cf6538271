import { expect, test } from "bun:test";
import { startPostgres } from "../postgres.ts";
import { startStandby } from "../postgresStandby.ts";
import { boundless, startFleet, until } from "./fleet.ts";
import { entriesOf } from "./recording.ts";

test("an old primary that falls silent and wakes up after its standby was promoted is not read from", async () => {
  const primary = await startPostgres();
  const { pathname } = new URL(await primary.freshDatabase());
  const standby = await startStandby(primary, { synchronous: true });
  const hosts = `127.0.0.1:${primary.port},127.0.0.1:${standby.port}`;
  const fleet = await startFleet(`postgres://postgres@${hosts}${pathname}`, { size: 1, pets: [1] });
  try {
    const { key } = await fleet.issueKey(...boundless);
    const patch = async (quantity: number) => {
      const body = `{"quantity":${quantity}}`;
      return (await fleet.call(0, "PATCH", "/inventory/1", { key, body })).status;
    };
    expect(await patch(1)).toBe(200);
    expect((await fleet.call(0, "GET", "/inventory", { key })).status).toBe(200);
    primary.pause();
    await standby.promote();
    // Only updates while the old primary is silent: connections kept for reading do not notice.
    await until(async () => (await patch(2)) === 200, 15_000, "an update through the new primary");
    primary.resume();
    expect(await patch(3)).toBe(200);
    for (let turn = 0; turn < 20; turn++) {
      const list = await fleet.call(0, "GET", "/inventory", { key });
      if (list.status === 200) expect(entriesOf(list.text).get(1n)).toBe(3);
      else expect(list.status).toBe(503);
    }
    expect((await fleet.call(0, "GET", "/inventory", { key })).status).toBe(200);
  } finally {
    await fleet.leave();
    await Promise.all([primary.destroy(), standby.destroy()]);
  }
}, 60_000);
