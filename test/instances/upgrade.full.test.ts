import { afterEach, expect, test } from "bun:test";
import { steps } from "../../src/store/postgres/schema/steps.ts";
import { boundless } from "../support/instances/fleet.ts";
import { openWorkspace, type Workspace } from "../support/process.ts";
import { unpackRelease } from "../support/release-code.ts";
import { readLedger, readRows, restore } from "../support/release-stores.ts";
import { call } from "../support/service.ts";
import { verifyStore } from "../support/stocking.ts";
import { until } from "../support/until.ts";

let place: Workspace | undefined;
afterEach(() => place?.leave());

/** Updates a pet and reads the list, one after the other, until it is stopped. */
function startLoad(baseUrl: string, key: string, petId: number) {
  const statuses: Record<number, number> = {};
  let isStopped = false;
  let updates = 0;
  const count = ({ status }: { status: number }) => {
    statuses[status] = (statuses[status] ?? 0) + 1;
    return status;
  };
  const running = (async () => {
    while (!isStopped) {
      const body = `{"quantity":${updates + 1}}`;
      if (count(await call(baseUrl, "PATCH", `/inventory/${petId}`, { key, body })) === 200) {
        updates += 1;
      }
      count(await call(baseUrl, "GET", "/inventory", { key }));
      count(await call(baseUrl, "GET", `/inventory/${petId}/history`, { key }));
    }
  })();
  return {
    updates: () => updates,
    async stop() {
      isStopped = true;
      await running;
      return statuses;
    },
  };
}

test("instances of 0.13.0 and of this version serve one database through the migration, and no update is lost", async () => {
  place = openWorkspace();
  const { serve, run } = place;
  const database = await restore.postgres("0.13.0");
  const command = unpackRelease("0.13.0", place);
  const createKey = async (options = {}) => {
    const words = ["keys", "create", "--name", "new", "--json", "--database", database];
    return JSON.parse((await run([...words, ...boundless], options)).out).key as string;
  };
  const schema = async () =>
    (await readRows(database, "SELECT version::int4, fits::int4 FROM petstore_schema"))[0];

  const [older, olderKey] = await Promise.all([
    serve(["serve", "--database", database], { command }),
    createKey({ command }),
  ]);
  const olderLoad = [1, 2].map((petId) => startLoad(older.baseUrl, olderKey, petId));
  await until(() => olderLoad[0]!.updates() > 4, 20_000, "updates before the migration");
  expect(await schema()).toEqual([14, 4]);

  const newer = await serve(["serve", "--database", database]);
  expect(newer.written()).toContain('"event":"store migrated"');
  expect(await schema()).toEqual([steps.length, steps.at(-1)!.fits]);
  const newerKey = await createKey();
  // Each version accepts the keys that the other has made.
  const crossLoad = [
    startLoad(newer.baseUrl, olderKey, 7),
    startLoad(older.baseUrl, newerKey, 7),
    startLoad(newer.baseUrl, newerKey, 1),
  ];
  const reached = olderLoad[0]!.updates() + 4;
  await until(() => olderLoad[0]!.updates() > reached, 20_000, "updates after the migration");
  await until(() => crossLoad.every((load) => load.updates() > 4), 20_000, "updates on both");
  const loads = [...olderLoad, ...crossLoad];
  const statuses = await Promise.all(loads.map((load) => load.stop()));
  // A slow machine holds the locks of the migration for longer than 0.13.0 waits for them.
  const [ofOlder, ofCross] = [
    statuses.slice(0, olderLoad.length),
    statuses.slice(olderLoad.length),
  ];
  for (const found of ofOlder) {
    expect(["200", "503"]).toEqual(expect.arrayContaining(Object.keys(found)));
  }
  expect(ofCross.map((found) => Object.keys(found))).toEqual(crossLoad.map(() => ["200"]));

  const lists = await Promise.all(
    [older, newer].map(({ baseUrl }) => call(baseUrl, "GET", "/inventory", { key: newerKey })),
  );
  expect(lists[0]!.text).toBe(lists[1]!.text);
  older.kill("SIGTERM");
  expect(await older.exited).toBe(0);
  const body = '{"quantity":1}';
  expect((await call(newer.baseUrl, "PATCH", "/inventory/1", { key: olderKey, body })).status).toBe(
    200,
  );
  expect(newer.written()).not.toMatch(/"bug"|"crash"/);

  // An instance of 0.13.0 can be started again.
  const verified = await run(["verify", "--json", "--database", database], { command });
  expect(JSON.parse(verified.out)).toMatchObject({ faultCount: 0 });
  const updates = loads.reduce((sum, load) => sum + load.updates(), 1);
  const seqs = await readLedger(database, "seq");
  expect(seqs).toEqual(Array.from({ length: 12 + updates }, (_, at) => `${at + 1}`));
  expect(await verifyStore(database)).toMatchObject({ rows: 12 + updates, faults: [] });
});
