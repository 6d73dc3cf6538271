import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { Ajv2020 } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import { Webhook } from "standardwebhooks";
import { byCommand } from "../../src/domain/audit/audit.ts";
import { pauseWebhook, replayWebhook } from "../../src/domain/webhooks/lifecycle.ts";
import type { WebhookAttempt } from "../../src/domain/webhooks/webhook.ts";
import { issueOperator } from "../support/admin/operators.ts";
import { documentText, parseDocument } from "../support/contract/document.ts";
import { expectError } from "../support/responses.ts";
import { surfaceEngine } from "../support/service.ts";
import { answer, confirm, type Receiver, startReceiver } from "../support/webhooks/receiver.ts";
import { startWebhookService, type WebhookService } from "../support/webhooks/service.ts";
import { webhookNamed } from "../support/webhooks.ts";

/** Whether a message is what openapi.json says of its type. */
const ajv = addFormats.default(new Ajv2020({ strict: false }));
ajv.addSchema({ $id: "api", ...parseDocument(documentText) });
const isDescribed = (body: string) => {
  const { type } = JSON.parse(body) as { type: string };
  const place = `webhooks/${type}/post/requestBody/content/application~1json/schema`;
  return ajv.getSchema(`api#/${place}`)!(JSON.parse(body));
};

describe.each([surfaceEngine])("a message that an operator asks for, on %s", (engine) => {
  let service: WebhookService;
  let receiver: Receiver;
  let operator: string;
  beforeAll(async () => {
    service = await startWebhookService(engine);
    // The package that verifies signatures compares with the real time.
    service.clock.set(Date.now());
    operator = (await issueOperator(service, "Ada")).text;
  });
  beforeEach(async () => {
    await receiver?.stop();
    receiver = await startReceiver();
  });
  afterAll(async () => {
    await service.stop();
    await receiver.stop();
  });

  const send = (path: string, target: WebhookService = service) =>
    target.call("POST", `~/admin/webhooks/${path}`, { key: operator });
  const sent = async (path: string, target?: WebhookService) => {
    const { status, json } = await send(path, target);
    expect(status).toBe(200);
    return json as unknown as WebhookAttempt;
  };
  const logOf = (id: string) => service.store.webhooks.listAttempts(id, 50);

  test("is a signed test, whose attempt is returned and kept, and which changes nothing else", async () => {
    const { id, secret } = await service.create({ url: receiver.url });
    await pauseWebhook(service.store, id, byCommand(service.clock.now()));
    const before = await service.find(id);
    receiver.behave(answer(410, {}, "go away"));
    const attempt = await sent(`${id}/test`);
    expect(attempt).toMatchObject({ status: 410, answer: "go away", changes: 0, error: null });
    const [{ body, headers }] = receiver.received as [(typeof receiver.received)[number]];
    expect(headers["webhook-id"]).toBe(attempt.messageId);
    expect(new Webhook(secret).verify(body, headers)).toMatchObject({
      type: "test",
      data: { changes: [] },
    });
    expect(isDescribed(body)).toBe(true);
    expect(await service.find(id)).toEqual(before);
    expect(await logOf(id)).toMatchObject([{ messageId: attempt.messageId, status: 410 }]);
    const [entry] = await service.store.audit.listEntries({ target: id }, 1);
    expect(entry).toMatchObject({ action: "webhook.tested", keyId: expect.any(String) });
    expectError(await send("wh_0/test"), "not_found");
    expectError(await send(`${id}/messages/${attempt.messageId}/resend`), "invalid_request");
    expect(receiver.received).toHaveLength(1);
  });

  test("is an earlier one with the same id and body, also after a replay", async () => {
    const first = await service.change(5);
    const { id } = await service.create({ url: receiver.url, from: first, below: 9 });
    await service.change(9, 4, 3, 9, 2, 10);
    await service.becomes(() => receiver.confirmed.at(-1) === first + 5);
    await service.becomes(async () => (await logOf(id)).length === receiver.received.length);
    const earlier = receiver.received.find(({ seqs }) => seqs.length > 0)!;
    const messageId = earlier.headers["webhook-id"]!;
    await pauseWebhook(service.store, id, byCommand(service.clock.now()));
    for (const replays of [0, 1, 2]) {
      const again = await sent(`${id}/messages/${messageId}/resend`);
      expect(again).toMatchObject({ messageId, status: 204, firstSeq: earlier.seqs[0] });
      expect(receiver.received.at(-1)!.body).toBe(earlier.body);
      expect(receiver.received.at(-1)!.headers["webhook-id"]).toBe(messageId);
      await replayWebhook(service.store, id, first, byCommand(service.clock.now()));
      expect((await service.find(id)).replays).toBe(replays + 1);
    }
    expect(isDescribed(earlier.body)).toBe(true);
    const { length } = receiver.received;
    expectError(await send(`${id}/messages/msg_0/resend`), "not_found");
    // The rows of this message are not those of the ledger.
    const foreign = { ...(await logOf(id))[0]!, messageId: "msg_1" };
    const entry = (await service.store.audit.listEntries({ target: id }, 1))[0]!;
    await service.store.webhooks.addAttempt(id, foreign, entry);
    expectError(await send(`${id}/messages/msg_1/resend`), "not_found");
    expect(receiver.received).toHaveLength(length);
  });

  test("goes only to allowed addresses, and one at a time", async () => {
    const inside = webhookNamed("wh_inside", { url: "http://10.1.2.3/", state: "paused" });
    const [entry] = await service.store.audit.listEntries({}, 1);
    await service.store.webhooks.addWebhook(inside, entry!);
    expect(await sent("wh_inside/test")).toMatchObject({
      status: null,
      error: expect.stringContaining("not a public address"),
    });
    const { id } = await service.create({ url: receiver.url });
    const arrived = Promise.withResolvers<() => void>();
    receiver.behaveOnce((response) => arrived.resolve(() => void response.writeHead(204).end()));
    const pending = sent(`${id}/test`);
    const finish = await arrived.promise;
    expectError(await send(`${id}/test`), "already_running");
    finish();
    expect(await pending).toMatchObject({ status: 204 });
    receiver.behave(confirm);
    expect(await sent(`${id}/test`)).toMatchObject({ status: 204 });
    expect(receiver.received).toHaveLength(2);
  });

  test("is in both logs, also if the operator leaves before the response", async () => {
    const { id } = await service.create({ url: receiver.url });
    const leaving = new AbortController();
    receiver.behaveOnce(() => leaving.abort());
    const url = new URL(`/admin/webhooks/${id}/test`, service.baseUrl);
    const headers = { Authorization: `Bearer ${operator}` };
    const left = fetch(url, { method: "POST", headers, signal: leaving.signal });
    await expect(left).rejects.toThrow();
    await service.becomes(async () => (await logOf(id)).length === 1);
    const [{ messageId, error }] = (await logOf(id)) as [WebhookAttempt];
    expect(error).toBe("the attempt was cancelled");
    expect(receiver.received[0]!.headers["webhook-id"]).toBe(messageId);
    const [entry] = await service.store.audit.listEntries({ target: id }, 1);
    expect(entry).toMatchObject({ action: "webhook.tested", details: { messageId } });
  });
});

test("another instance than the one that delivers sends a test and a message again", async () => {
  const first = await startWebhookService("postgres");
  const database = first.databaseUrl;
  const second = await startWebhookService("postgres", {}, { database, clock: first.clock });
  const receiver = await startReceiver();
  const key = (await issueOperator(first, "Ada")).text;
  const { id } = await first.create({ url: receiver.url });
  const seq = await first.change(5);
  await first.becomes(async () => (await first.store.webhooks.listAttempts(id, 9)).length === 1);
  const messageId = receiver.received[0]!.headers["webhook-id"]!;
  for (const service of [first, second]) {
    const again = `~/admin/webhooks/${id}/messages/${messageId}/resend`;
    expect((await service.call("POST", again, { key })).status).toBe(200);
    expect((await service.call("POST", `~/admin/webhooks/${id}/test`, { key })).status).toBe(200);
  }
  const last = await second.change(6);
  await first.becomes(async () => (await first.store.webhooks.listAttempts(id, 9)).length === 6);
  expect(receiver.confirmed).toEqual([seq, seq, seq, last]);
  const log = await second.store.webhooks.listAttempts(id, 9);
  expect(log.map(({ changes }) => changes).reverse()).toEqual([1, 1, 0, 1, 0, 1]);
  await Promise.all([first.stop(), second.stop(), receiver.stop()]);
});
