import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Webhook } from "standardwebhooks";
import { digestOf } from "../src/domain/keys/keyring.ts";
import { anEntry } from "./support/audit.ts";
import { CuttingProxy } from "./support/client/cutting-proxy.ts";
import { linesOf } from "./support/lines.ts";
import { startTestService, type TestService } from "./support/service.ts";

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

function start(args: string[], env: Record<string, string>) {
  const child = Bun.spawn([process.execPath, ...args], {
    cwd: new URL("..", import.meta.url).pathname,
    env: { ...process.env, ...env },
    stdout: "pipe",
    stderr: "pipe",
  });
  const lines = linesOf(child.stdout);
  const errors = new Response(child.stderr).text();
  async function lineWith(...patterns: (string | RegExp)[]): Promise<string> {
    for (;;) {
      const { value, done } = await lines.next();
      if (done) throw new Error(`The example ended before ${patterns}: ${await errors}`);
      if (patterns.some((pattern) => value.match(pattern))) return value;
    }
  }
  return {
    /** Reads up to the next line that matches. */
    lineWith: (pattern: string | RegExp) => lineWith(pattern),
    /** Reads until every pattern has matched a line, in any order. */
    async linesWith(...patterns: RegExp[]): Promise<void> {
      const missing = new Set(patterns);
      while (missing.size > 0) {
        const line = await lineWith(...missing);
        for (const pattern of missing) if (line.match(pattern)) missing.delete(pattern);
      }
    },
    async [Symbol.asyncDispose]() {
      child.kill();
      await child.exited;
    },
  };
}

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

test("mirror.ts stays equal to GET /inventory, continues after a kill, and loads its copy again after a reset", async () => {
  // Another history, as after a restore from a backup.
  const other = await startTestService();
  try {
    await other.addPets({ petId: 7n, quantity: 1 }, { petId: 50n, quantity: 2 });
    const key = await issueSharedKey(service, other);
    await using proxy = await CuttingProxy.start(service.baseUrl);
    const file = join(folder, "mirror.json");
    const env = { BASE_URL: proxy.baseUrl, API_KEY: key, MIRROR_FILE: file };
    {
      await using mirror = start(["examples/mirror.ts", "0.1"], env);
      await mirror.lineWith(/^loaded 2 pets as of change 2$/);
      for (const quantity of [5, 6, 7]) await setQuantity(service, key, largestId, quantity);
      await service.addPets({ petId: 9n, quantity: 4, status: "sold" });
      await mirror.lineWith(`change 5: pet ${largestId}, 7`);
      await mirror.lineWith(/^change 6: pet 9, 4$/);
      await mirror.linesWith(
        /^equal to GET \/inventory at change 6: 3 pets$/,
        /^stored 3 pets as of change 6$/,
      );
    }
    // A crash while the file was written.
    await Bun.write(`${file}.new`, '{"cursor":');
    await setQuantity(service, key, largestId, 8);
    {
      await using mirror = start(["examples/mirror.ts", "0.1"], env);
      expect(await mirror.lineWith(/./)).toBe("continuing with 3 pets as of change 6");
      expect(await mirror.lineWith(/^(loaded|change)/)).toBe(`change 7: pet ${largestId}, 8`);
      await mirror.lineWith(/^equal to GET \/inventory at change 7: 3 pets$/);
      proxy.switchTo(other.baseUrl);
      await mirror.lineWith(/^loaded 2 pets as of change 2$/);
      await mirror.lineWith(/^stored 2 pets as of change 2$/);
    }
    await setQuantity(other, key, 50n, 3);
    await using mirror = start(["examples/mirror.ts", "0.1"], env);
    expect(await mirror.lineWith(/./)).toBe("continuing with 2 pets as of change 2");
    await mirror.lineWith(/^equal to GET \/inventory at change 3: 2 pets$/);
  } finally {
    await other.stop();
  }
});

test("webhook-receiver.ts handles each change once, also after a restart, and nothing unsigned", async () => {
  const [secret, newSecret] = ["first", "second"].map((text) => `whsec_${btoa(text.repeat(5))}`);
  const env = { PORT: "0", SEQ_FILE: join(folder, "seq") };
  const row = (seq: number) =>
    `{"seq":${seq},"petId":${largestId},"before":null,"after":{"quantity":${seq},"status":"sold"},"cause":"api","keyId":null,"keyName":null,"reason":null,"requestId":null,"at":"2026-11-15T10:00:00.000Z"}`;
  const bodyOf = (...seqs: number[]) =>
    `{"type":"inventory.changed","timestamp":"2026-11-15T10:00:00.000Z","data":{"changes":[${seqs.map(row)}],"cursor":"a-9"}}`;
  async function startReceiver(secrets: string) {
    const receiver = start(["examples/webhook-receiver.ts"], { ...env, WEBHOOK_SECRETS: secrets });
    const url = (await receiver.lineWith("listening on ")).replace("listening on ", "");
    const deliver = async (body: string, signedBody = body, signer = secret) => {
      const at = new Date();
      const headers = {
        "webhook-id": "msg_1",
        "webhook-timestamp": String(Math.floor(at.getTime() / 1000)),
        "webhook-signature": new Webhook(signer ?? "").sign("msg_1", at, signedBody),
      };
      return (await fetch(url, { method: "POST", headers, body })).status;
    };
    return { ...receiver, deliver };
  }
  {
    await using receiver = await startReceiver(`${secret}`);
    expect(await receiver.deliver(bodyOf(1, 2))).toBe(204);
    expect(await receiver.deliver(bodyOf(1, 2, 3))).toBe(204);
    expect(await receiver.lineWith("change")).toBe(`change 1: pet ${largestId}, 1`);
    expect(await receiver.lineWith("change")).toBe(`change 2: pet ${largestId}, 2`);
    expect(await receiver.lineWith("change")).toBe(`change 3: pet ${largestId}, 3`);
    expect(await receiver.deliver(bodyOf(4), bodyOf(5))).toBe(400);
    expect(await receiver.deliver(bodyOf(4), bodyOf(4), newSecret)).toBe(400);
    expect(await receiver.deliver("x".repeat(200_000))).toBe(413);
  }
  await using receiver = await startReceiver(`${secret},${newSecret}`);
  expect(await receiver.deliver(bodyOf(3))).toBe(204);
  expect(await receiver.deliver(bodyOf(3, 4), bodyOf(3, 4), newSecret)).toBe(204);
  expect(await receiver.lineWith("change")).toBe(`change 4: pet ${largestId}, 4`);
});
