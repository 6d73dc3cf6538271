import { expect } from "bun:test";
import { cpSync } from "node:fs";
import { createTestClock } from "./clock.ts";
import { openWorkspace, type Served, type Workspace } from "./process.ts";
import { call, startTestService, type TestResponse } from "./service.ts";
import { createKey, importPets, unlimited, verifyStore, withStoreAt } from "./stocking.ts";

/** A service in any process. */
type Serving = Pick<Served, "baseUrl">;

/** A client that sets one pet to increasing quantities and records what was acknowledged. */
export interface Client {
  readonly petId: number;
  acknowledged: number;
  sent: number;
}

/** A folder with a store of pets, a key without practical limits, and a client for every pet. */
export interface LoadedPlace {
  readonly place: Workspace;
  readonly database: string;
  readonly key: string;
  readonly clients: readonly Client[];
  /** Sends one update and returns the response. */
  ask(service: Serving, client: Client): Promise<TestResponse>;
  /** Sends one update and returns the status of the response. */
  update(service: Serving, client: Client): Promise<number>;
  /** Expects every entry to be at its last acknowledged quantity, or at one sent after that. */
  expectNothingLost(service: Serving): Promise<void>;
  /** The same, of the entries in the store, which no service may be using. */
  expectNothingLostInStore(): Promise<void>;
  /** Serves the store in the process of the tests. Returns when `work` is done and the service stopped. */
  serveHere(work: (service: Serving) => Promise<unknown>): Promise<void>;
}

const petsCount = 16;

/** Creates the store, or copies that of another place which no service has used. */
export async function enterLoadedPlace(template?: LoadedPlace): Promise<LoadedPlace> {
  const place = openWorkspace();
  const rows = Array.from({ length: petsCount }, (_, at) => `{"petId":${at},"name":"Pet ${at}"}`);
  const file = "data/production.db";
  const database = `sqlite:${place.path(file)}`;
  if (template) cpSync(template.place.path(file), place.path(file));
  else await importPets(database, ...rows);
  const key = template?.key ?? (await createKey(database, { name: "load", ...unlimited })).key;
  const clients: Client[] = rows.map((_, petId) => ({ petId, acknowledged: 0, sent: 0 }));

  async function ask(service: Serving, client: Client): Promise<TestResponse> {
    client.sent += 1;
    const { petId, sent } = client;
    const body = `{"quantity":${sent}}`;
    const answer = await call(service.baseUrl, "PATCH", `/inventory/${petId}`, { key, body });
    if (answer.status === 200) client.acknowledged = sent;
    return answer;
  }

  function expectNothingLostIn(entries: readonly { petId: number; quantity: number }[]): void {
    expect(entries).toHaveLength(petsCount);
    for (const { petId, acknowledged, sent } of clients) {
      const { quantity } = entries.find((entry) => entry.petId === petId)!;
      // Only the update that was being sent when the process ended may be stored or not.
      expect(quantity).toBeGreaterThanOrEqual(acknowledged);
      expect(quantity).toBeLessThanOrEqual(sent);
    }
  }

  return {
    place,
    database,
    key,
    clients,
    ask,
    update: async (service, client) => (await ask(service, client)).status,
    async expectNothingLost(service) {
      const list = await call(service.baseUrl, "GET", "/inventory", { key });
      expectNothingLostIn(list.json as { petId: number; quantity: number }[]);
    },
    expectNothingLostInStore: () =>
      withStoreAt(database, async ({ inventory }) => {
        const entries = await inventory.entriesAfter(null, 2 * petsCount);
        expectNothingLostIn(entries.map((entry) => ({ ...entry, petId: Number(entry.petId) })));
      }),
    async serveHere(work) {
      const clock = createTestClock(Date.now());
      const service = await startTestService("sqlite", { database }, {}, { clock });
      try {
        await work(service);
      } finally {
        await service.stop();
      }
    },
  };
}

/**
 * Kills the service during parallel updates, several times. After each kill the store must pass
 * verification, and the next service must have every acknowledged update.
 */
export async function crashRepeatedly(loaded: LoadedPlace, rounds: number): Promise<void> {
  const { place, clients } = loaded;
  let service = await place.serve();
  for (let round = 0; round < rounds; round++) {
    // The kill follows a response directly, after a different number of responses in each round, so
    // that it interrupts commits at every stage.
    let left = petsCount * (2 + ((round * 7) % 23));
    const onAcknowledged = () => {
      left -= 1;
      if (left === 0) service.kill("SIGKILL");
    };
    await Promise.all(
      clients.map((client) => updateUntilKilled(loaded, service, client, onAcknowledged)),
    );
    await service.exited;
    expect(await verifyStore(loaded.database)).toMatchObject({ faults: [] });
    service = await place.serve();
    await loaded.expectNothingLost(service);
  }
  expect(clients.every((client) => client.acknowledged > rounds)).toBe(true);
}

async function updateUntilKilled(
  loaded: LoadedPlace,
  service: Served,
  client: Client,
  onAcknowledged: () => void,
): Promise<void> {
  for (;;) {
    const status = await loaded.update(service, client).catch(() => "killed");
    if (status === "killed") return;
    expect(status).toBe(200);
    onAcknowledged();
  }
}
