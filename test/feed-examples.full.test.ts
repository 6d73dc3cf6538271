import { Database } from "bun:sqlite";
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { digestOf } from "../src/domain/keys/keyring.ts";
import { anEntry } from "./support/audit.ts";
import { CuttingProxy } from "./support/client/cutting-proxy.ts";
import { startExample } from "./support/example-process.ts";
import { linesOf } from "./support/lines.ts";
import { startTestService, type TestService } from "./support/service.ts";
import { tryReceiver } from "./support/webhooks/receiver-trial.ts";

// The examples that follow the feed or receive webhooks. They run until they are stopped.

const largestId = 9223372036854775807n;
let service: TestService;
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "petstore-feed-example-"));
  service = await startTestService();
  await service.addPets({ petId: 7n, quantity: 3 }, { petId: largestId, quantity: 1 });
});
afterAll(async () => {
  await service.stop();
  await rm(folder, { recursive: true, force: true });
});

const start = (args: string[], env: Record<string, string>) =>
  startExample([process.execPath, ...args], env);

/** Issues a key that is valid for both services. */
async function issueSharedKey(one: TestService, other: TestService): Promise<string> {
  const { id, text } = await one.issueKey();
  const key = await one.store.keys.findKey(id);
  if (key === undefined) throw new Error("The key is not stored");
  await other.store.keys.addKey(key, digestOf(text), anEntry);
  return text;
}

async function setQuantity(one: TestService, key: string, petId: bigint, quantity: number) {
  const body = JSON.stringify({ quantity });
  expect((await one.call("PATCH", `/inventory/${petId}`, { key, body })).status).toBe(200);
}

describe("mirror.ts", () => {
  const mirror = ["examples/mirror.ts"];

  /** Compares the copy with the service, and returns what the comparison prints. */
  const check = async (env: Record<string, string>) => {
    await using comparison = start([...mirror, "check"], env);
    return await comparison.lineWith("the service");
  };

  test("loads its copy again after a reset, and says if a copy differs", async () => {
    // Another history, as after a restore from a backup.
    const other = await startTestService();
    try {
      await other.addPets({ petId: 7n, quantity: 1 }, { petId: 50n, quantity: 2 });
      const key = await issueSharedKey(service, other);
      await using proxy = await CuttingProxy.start(service.baseUrl);
      const file = join(folder, "reset.db");
      const env = { BASE_URL: proxy.baseUrl, API_KEY: key, MIRROR_FILE: file };
      await using copier = start(mirror, env);
      await copier.lineWith(/^loaded 2 pets as of change 2$/);
      await setQuantity(service, key, largestId, 5);
      await copier.lineWith(`change 3: pet ${largestId}, 5`);
      proxy.switchTo(other.baseUrl);
      await copier.lineWith(/^loaded 2 pets as of change 2$/);
      await setQuantity(other, key, 50n, 3);
      await copier.lineWith(/^change 3: pet 50, 3$/);
      expect(await check(env)).toBe("equal to the service at change 3");
      using database = new Database(file);
      database.run("UPDATE stock SET quantity = 4 WHERE petId = 50");
      expect(await check(env)).toBe("differs from the service at change 3");
    } finally {
      await other.stop();
    }
  });
});

test("relay.ts continues after the last event of a page, and sends the stock again after a reset", async () => {
  const other = await startTestService();
  try {
    await other.addPets({ petId: 50n, quantity: 2 });
    const key = await issueSharedKey(service, other);
    await setQuantity(service, key, largestId, 1);
    const { json } = await service.call("GET", "/changes/head", { key });
    const { seq } = json as { seq: number };
    await using proxy = await CuttingProxy.start(service.baseUrl);
    const env = { BASE_URL: proxy.baseUrl, API_KEY: key, PORT: "0" };
    await using relay = start(["examples/relay.ts"], env);
    const url = (await relay.lineWith("listening on ")).replace("listening on ", "");
    const open = async (lastId?: string) => {
      const headers: Record<string, string> =
        lastId === undefined ? {} : { "last-event-id": lastId };
      const { body } = await fetch(`${url}changes`, { headers });
      const lines = linesOf(body!);
      const next = async (name: string) => {
        for (;;) {
          const { value, done } = await lines.next();
          if (done) throw new Error("The relay closed the connection");
          if (value.startsWith(`${name}: `)) return value.slice(name.length + 2);
        }
      };
      return { next, event: async () => [await next("event"), JSON.parse(await next("data"))] };
    };
    const entry = { petId: String(largestId), quantity: 1, status: "available" };
    const first = await open();
    const id = await first.next("id");
    expect(await first.event()).toEqual(["stock", expect.arrayContaining([entry])]);
    await setQuantity(service, key, largestId, 2);
    const change = ["change", { seq: seq + 1, ...entry, quantity: 2 }];
    expect(await first.event()).toEqual(change);
    expect(await (await open(id)).event()).toEqual(change);
    expect((await (await open("unknown-1")).event())[0]).toBe("stock");
    proxy.switchTo(other.baseUrl);
    const restored = [{ petId: "50", quantity: 2, status: "available" }];
    expect(await first.event()).toEqual(["stock", restored]);
  } finally {
    await other.stop();
  }
});

test("webhook-receiver.ts handles each change once, also after a restart, and nothing unsigned", () =>
  tryReceiver([process.execPath, "examples/webhook-receiver.ts"], join(folder, "seq")));
