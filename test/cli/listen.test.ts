import { afterAll, beforeAll, expect, test } from "bun:test";
import { Webhook } from "standardwebhooks";
import { CuttingProxy } from "../support/client/cutting-proxy.ts";
import { openWorkspace, petstore, type Ran } from "../support/process.ts";
import { startTestService, surfaceEngine } from "../support/service.ts";
import { until } from "../support/until.ts";
import { expectUsageError } from "../support/usage-errors.ts";
import { answer, type Receiver, startReceiver } from "../support/webhooks/receiver.ts";
import { startWebhookService, type WebhookService } from "../support/webhooks/service.ts";

const place = openWorkspace();
const largestId = 9223372036854775807n;
const listen = ["webhooks", "listen", "--forward-to"];

test("a program gets the messages of the service, over lost connections, until Ctrl-C", async () => {
  const engine = surfaceEngine;
  const service = await startWebhookService(engine);
  // Two instances of a store on PostgreSQL. One process serves a store on SQLite.
  const flags = { database: service.databaseUrl };
  const other = engine === "postgres" ? await startTestService(engine, flags) : service;
  const key = (await service.issueKey({ scopes: ["history:read"] })).text;
  const receiver = await startReceiver();
  await using proxy = await CuttingProxy.start(service.baseUrl);
  const words = [...listen, receiver.url, "--base-url", proxy.baseUrl];
  const listening = place.start(words, { env: { API_KEY: key } });
  await listening.wrote("connected");
  const [, secret] = /^secret: {2}(whsec_\S+)$/m.exec(listening.written())!;
  // A real webhook, to compare with.
  const real = await startReceiver();
  await service.create({ url: real.url });
  const last = await service.change(1, 2, 3);
  await service.addPets({ petId: largestId, quantity: 4 });
  await until(() => receiver.confirmed.at(-1) === last + 1, 10_000, "the messages");
  await service.becomes(() => real.confirmed.at(-1) === last + 1);
  // The same rows and positions, byte by byte. A burst may be divided in another way.
  const contentOf = ({ received }: Receiver) => {
    const parts = received.map(
      ({ body }) => /"data":\{"changes":\[(.*)\],("cursor".*)$/.exec(body)!,
    );
    return [parts.map(([, changes]) => changes).join(), parts.at(-1)![2]];
  };
  expect(contentOf(receiver)).toEqual(contentOf(real));
  const [mine, theirs] = [receiver, real].map(({ received }) => received.at(-1)!);
  expect(Object.keys(mine!.headers)).toEqual(Object.keys(theirs!.headers));
  for (const { body, headers } of receiver.received) {
    expect(new Webhook(secret!).verify(body, headers)).toMatchObject({
      type: "inventory.changed",
    });
  }
  expect(mine!.body).toContain(`"petId":${largestId},`);

  receiver.behaveOnce(answer(500, {}, "out of order"));
  proxy.switchTo(other.baseUrl);
  await service.change(5);
  await listening.wrote("keeps trying");
  await listening.wrote("status 500  out of order");
  const next = await service.change(6);
  await until(() => receiver.confirmed.at(-1) === next, 10_000, "the next message");
  // Every change once: the one that the program rejected is not repeated.
  expect(receiver.received.flatMap(({ seqs }) => seqs)).toHaveLength(6);
  listening.kill("SIGINT");
  expect(await listening.exited).toBe(0);
  expect(listening.written()).not.toContain(key);
  await Promise.all([real.stop(), receiver.stop()]);
  if (other !== service) await other.stop();
  await service.stop();
});

let service: WebhookService;
let receiver: Receiver;
let key: string;
beforeAll(async () => {
  service = await startWebhookService("sqlite");
  receiver = await startReceiver();
  key = (await service.issueKey({ scopes: ["history:read"] })).text;
});
afterAll(async () => {
  await place.leave();
  await service.stop();
  await receiver.stop();
});

test("earlier changes are sent with a given secret, as JSON, in messages of bounded size", async () => {
  const other = await startReceiver();
  const from = (await service.change(0)) + 1;
  const last = await service.change(...Array.from({ length: 250 }, (_, at) => at));
  const secret = `whsec_${btoa("a secret of 32 bytes, for a test")}`;
  const listening = place.start(
    [...listen, other.url, "--base-url", service.baseUrl, "--from", String(from), "--json"],
    { env: { API_KEY: key, WEBHOOK_SECRET: secret } },
  );
  await until(() => other.confirmed.at(-1) === last, 10_000, "all changes");
  await listening.wrote(`"lastSeq":${last},`);
  listening.kill("SIGINT");
  expect(await listening.exited).toBe(0);
  expect(other.confirmed).toHaveLength(250);
  for (const { body, headers } of other.received) {
    expect(Buffer.byteLength(body)).toBeLessThanOrEqual(20_000);
    expect(new Webhook(secret).verify(body, headers)).toBeDefined();
  }
  const lines = listening
    .written()
    .split("\n")
    .filter((line) => line.startsWith("{"));
  expect(lines.map((line) => JSON.parse(line).messageId)).toEqual(
    other.received.map(({ headers }) => headers["webhook-id"]!),
  );
  expect(listening.written()).not.toContain(secret);
  await other.stop();
});

test("it ends when nobody reads what it prints", async () => {
  const script = '"$0" "$@" | head -n 1';
  const words = [...listen, receiver.url, "--base-url", service.baseUrl];
  const options = { command: ["sh", "-c", script, petstore], env: { API_KEY: key } };
  let ran: Ran | undefined;
  const ended = place.run(words, options).then((result) => {
    ran = result;
  });
  await until(() => service.change(1).then(() => ran !== undefined), 10_000, "its end");
  await ended;
  expect(ran!.out).toStartWith("secret:  whsec_");
});

test("what is missing or wrong is said at once, without secrets", async () => {
  const run = (words: readonly string[], env: Record<string, string> = {}) =>
    place.runHere([...listen, ...words], { env: { API_KEY: "", ...env } });
  expectUsageError(await run(["http://127.0.0.1:9/"], { API_KEY: key }), "--forward-to");
  expectUsageError(await run([receiver.url]), "API_KEY");
  const bad = { API_KEY: key, WEBHOOK_SECRET: "whsec_?" };
  expectUsageError(await run([receiver.url], bad), "WEBHOOK_SECRET");
  expectUsageError(await run([receiver.url, "--from", "x"], { API_KEY: key }), "--from");
  const bare = await run([receiver.url, "--base-url", "http://127.0.0.1:1"], { API_KEY: key });
  expectUsageError(bare, "must end in /v1");
  const unable = (await service.issueKey({ scopes: ["inventory:read"] })).text;
  const ran = await place.runHere([...listen, receiver.url, "--base-url", service.baseUrl], {
    env: { API_KEY: unable },
  });
  expect(ran.out + ran.err).not.toContain(unable);
  const said = expect.stringMatching(/^petstore: cannot follow the service: .*'history:read'/);
  expect(ran).toMatchObject({ code: 2, err: said });
  const unknown = await place.runHere([...listen, receiver.url, "--base-url", service.baseUrl], {
    env: { API_KEY: "psk_live_mistyped" },
  });
  expect(unknown).toMatchObject({
    code: 2,
    err: expect.stringMatching(
      /^petstore: cannot follow the service: Missing or invalid API key\..* The sent key is incomplete/,
    ),
  });
});
