import { afterEach, beforeEach, expect, test } from "bun:test";
import { crashRounds, longTestMs } from "./endurance.ts";
import { enterPlace, type Place, petstore, type Served } from "./process.ts";
import { call } from "./service.ts";

const petsCount = 16;

let place: Place;
let key: string;
beforeEach(async () => {
  place = enterPlace();
  const rows = Array.from({ length: petsCount }, (_, at) => `{"petId":${at},"name":"Pet ${at}"}`);
  await place.run(["pets", "import", "-"], { stdin: rows.join("\n") });
  const plan = ["--plan", "enterprise", "--per-minute", "1000000", "--per-day", "100000000"];
  ({ key } = await place.json<{ key: string }>("keys", "create", "--name", "load", ...plan));
});
afterEach(() => place.leave());

/** One client that sets one pet to ever larger numbers, and remembers what it was told. */
interface Client {
  readonly petId: number;
  acknowledged: number;
  sent: number;
}

const newClients = (): Client[] =>
  Array.from({ length: petsCount }, (_, petId) => ({ petId, acknowledged: 0, sent: 0 }));

async function update(service: Served, client: Client): Promise<number> {
  client.sent += 1;
  const { petId, sent } = client;
  const body = `{"quantity":${sent}}`;
  const answer = await call(service.baseUrl, "PATCH", `/inventory/${petId}`, { key, body });
  if (answer.status === 200) client.acknowledged = sent;
  return answer.status;
}

/** Updates until the service is gone; `onAcknowledged` hears of every answer. */
async function updateUntilGone(
  service: Served,
  client: Client,
  onAcknowledged: () => void,
): Promise<void> {
  for (;;) {
    try {
      expect(await update(service, client)).toBe(200);
      onAcknowledged();
    } catch (error) {
      if (error instanceof Error && error.name !== "TypeError" && !("code" in error)) throw error;
      return;
    }
  }
}

async function expectNothingLost(service: Served, clients: readonly Client[]): Promise<void> {
  const list = await call(service.baseUrl, "GET", "/inventory", { key });
  const entries = list.json as { petId: number; quantity: number }[];
  expect(entries).toHaveLength(petsCount);
  for (const { petId, acknowledged, sent } of clients) {
    const { quantity } = entries.find((entry) => entry.petId === petId)!;
    // What was under way when the process died may have happened or not; nothing else may differ.
    expect(quantity).toBeGreaterThanOrEqual(acknowledged);
    expect(quantity).toBeLessThanOrEqual(sent);
  }
}

test(
  `no acknowledged update is lost over ${crashRounds} kills in the middle of parallel updates`,
  async () => {
    const clients = newClients();
    for (let round = 0; round < crashRounds; round++) {
      const service = await place.serve();
      // The kill comes after a number of answers that differs from round to round, and with the
      // answer, so that it meets commits at every stage.
      let left = petsCount * (2 + ((round * 7) % 23));
      const killer = () => {
        left -= 1;
        if (left === 0) service.kill("SIGKILL");
      };
      await Promise.all(clients.map((client) => updateUntilGone(service, client, killer)));
      await service.exited;
      const verified = await place.run(["verify"]);
      expect(verified).toMatchObject({ code: 0, err: "" });
      const again = await place.serve();
      await expectNothingLost(again, clients);
      again.kill("SIGKILL");
      await again.exited;
    }
    expect(clients.every((client) => client.acknowledged > crashRounds)).toBe(true);
  },
  longTestMs,
);

test("without room updates are answered 503 and reads go on; with room again all works, nothing lost", async () => {
  // A limit on the size of files stands for a full disk. The signal that comes with it is not part
  // of a full disk and is ignored.
  const wrapper = `trap "" XFSZ; ulimit -S -f 1024; exec "${petstore}" "$@"`;
  const service = await place.serve(["serve"], { command: ["sh", "-c", wrapper, "sh"] });
  const clients = newClients();
  const statuses = new Set<number>();
  for (let turn = 0; turn < 200 && !statuses.has(503); turn++) {
    for (const status of await Promise.all(clients.map((client) => update(service, client)))) {
      statuses.add(status);
    }
  }
  expect([...statuses].sort()).toEqual([200, 503]);
  const refused = await call(service.baseUrl, "PATCH", "/inventory/0", {
    key,
    body: '{"quantity":1}',
  });
  expect(refused.status).toBe(503);
  expect(refused.json).toMatchObject({ code: "unavailable", status: 503 });
  expect(refused.headers.get("retry-after")).not.toBeNull();
  expect((await call(service.baseUrl, "GET", "~/readyz")).status).toBe(200);
  await expectNothingLost(service, clients);

  if (Bun.which("prlimit")) {
    Bun.spawnSync(["prlimit", "--pid", String(service.pid), "--fsize=unlimited:unlimited"]);
    expect(await Promise.all(clients.map((client) => update(service, client)))).toEqual(
      clients.map(() => 200),
    );
  }
  service.kill("SIGTERM");
  expect(await service.exited).toBe(0);
  expect((await place.run(["verify"])).code).toBe(0);
  const roomy = await place.serve();
  await expectNothingLost(roomy, clients);
  expect(await update(roomy, clients[0]!)).toBe(200);
});
