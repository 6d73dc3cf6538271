import { afterAll, beforeAll, expect, test } from "bun:test";
import { boundless, type Fleet, startFleet } from "../support/instances/fleet.ts";
import { entriesOf } from "../support/instances/recording.ts";
import { openSlowProxy, type SlowProxy, upTo } from "../support/instances/slow-network.ts";
import { createdDatabase } from "../support/postgres-template.ts";
import { until } from "../support/until.ts";

/** Trials run concurrently, so that reads of one share reads of the head with others. */
const clients = 6;
const trialsPerClient = 9;

let fleet: Fleet;
let key: string;
let slowProxy: SlowProxy;
beforeAll(async () => {
  const pets = Array.from({ length: clients }, (_, client) => client);
  const databaseUrl = await createdDatabase();
  const { port } = new URL(databaseUrl);
  // On two instances reading the head takes long enough for others to write meanwhile.
  slowProxy = openSlowProxy(Number(port), upTo(10));
  const addressOf = (index: number) =>
    index === 0 ? databaseUrl : databaseUrl.replace(port, `${slowProxy.port}`);
  fleet = await startFleet(databaseUrl, { pets, addressOf });
  ({ key } = await fleet.issueKey(...boundless));
  // Connections are opened on first use, which is slow on a busy machine.
  for (let index = 0; index < fleet.size; index++) {
    const body = '{"quantity":0}';
    const isWarm = async () =>
      (await fleet.call(index, "PATCH", "/inventory/0", { key, body })).status === 200;
    await until(isWarm, 20_000, `instance ${index} updates`);
  }
});
afterAll(async () => {
  await fleet.leave();
  slowProxy.close();
});

test(`over ${clients * trialsPerClient} updates here and reads there, every read shows the update, and no 304 hides it`, async () => {
  /** The last tags that a client saw, by instance and coding. */
  const tags = new Map<string, string>();
  let stale = 0;
  let hidden = 0;
  let shown = 0;

  async function trial(client: number, turn: number): Promise<void> {
    const quantity = turn + 1;
    const here = (client + turn) % fleet.size;
    const there = (here + 1 + (turn % (fleet.size - 1))) % fleet.size;
    const coding = turn % 3 === 0 ? "gzip" : "identity";
    const seen = `${client} ${there} ${coding}`;
    const body = `{"quantity":${quantity}}`;
    const update = await fleet.call(here, "PATCH", `/inventory/${client}`, { key, body });
    expect(update.status).toBe(200);
    const headers: Record<string, string> = { "Accept-Encoding": coding };
    if (tags.has(seen)) headers["If-None-Match"] = tags.get(seen)!;
    const list = await fleet.call(there, "GET", "/inventory", { key, headers });
    if (list.status === 304) hidden += 1;
    else if (entriesOf(list.text).get(BigInt(client)) !== quantity) stale += 1;
    else shown += 1;
    const tag = list.headers.get("etag")!;
    tags.set(seen, tag);
    // Unless others wrote since, the tag still matches.
    const again = await fleet.call(there, "GET", "/inventory", {
      key,
      headers: { "Accept-Encoding": coding, "If-None-Match": tag },
    });
    expect(again.status === 304 || again.headers.get("etag") !== tag).toBe(true);
  }

  let ended = false;
  // Another request is always in the middle of a read, whose read of the head must not be shared.
  const others = Array.from({ length: fleet.size }, async (_, index) => {
    while (!ended) await fleet.call(index, "GET", "/inventory", { key });
  });
  const trials = Array.from({ length: clients }, async (_, client) => {
    for (let turn = 0; turn < trialsPerClient; turn++) await trial(client, turn);
  });
  try {
    await Promise.all(trials);
  } finally {
    ended = true;
    await Promise.allSettled([...trials, ...others]);
  }
  expect({ stale, hidden, shown }).toEqual({
    stale: 0,
    hidden: 0,
    shown: clients * trialsPerClient,
  });
});

test("what a command imports is visible on every instance on the next read", async () => {
  const tags = await Promise.all(
    [0, 1, 2].map(async (index) => {
      const list = await fleet.call(index, "GET", "/inventory", { key });
      return list.headers.get("etag")!;
    }),
  );
  await Bun.write(fleet.place.path("more.csv"), "petId,name,quantity\n77,Late,5\n");
  expect(await fleet.run("pets", "import", "more.csv")).toMatchObject({ code: 0 });
  for (const [index, tag] of tags.entries()) {
    const headers = { "If-None-Match": tag };
    const list = await fleet.call(index, "GET", "/inventory", { key, headers });
    expect(entriesOf(list.text).get(77n)).toBe(5);
  }
});
