import { afterAll, beforeAll, expect, test } from "bun:test";
import { Webhook } from "standardwebhooks";
import { byCommand } from "../../src/domain/audit/audit.ts";
import { rotateSecret } from "../../src/domain/webhooks/lifecycle.ts";
import { type Receiver, startReceiver } from "../support/webhooks/receiver.ts";
import { startWebhookService, type WebhookService } from "../support/webhooks/service.ts";

let service: WebhookService;
let receiver: Receiver;
beforeAll(async () => {
  service = await startWebhookService("sqlite");
  receiver = await startReceiver();
  // The package compares with the real time.
  service.clock.set(Date.now());
});
afterAll(async () => {
  await service.stop();
  await receiver.stop();
});

/** Makes a change and returns whether each secret verifies the message. */
async function verifiedBy(...secrets: readonly string[]): Promise<boolean[]> {
  const last = await service.change(1);
  await service.becomes(() => receiver.confirmed.at(-1) === last);
  const { body, headers } = receiver.received.at(-1)!;
  return secrets.map((secret) => {
    try {
      return new Webhook(secret).verify(body, headers) !== undefined;
    } catch {
      return false;
    }
  });
}

test("messages are verified by the secret, and by two during a rotation", async () => {
  const { id, secret } = await service.create({ url: receiver.url });
  expect(secret).toMatch(/^whsec_[0-9A-Za-z+/]{43}=$/);
  const foreign = `whsec_${Buffer.alloc(32, 7).toString("base64")}`;
  expect(await verifiedBy(secret, foreign)).toEqual([true, false]);
  const { headers } = receiver.received.at(-1)!;
  expect(headers["webhook-id"]).toMatch(/^msg_[0-9a-f]{32}$/);
  expect(headers["webhook-timestamp"]).toBe(String(Math.floor(service.clock.now() / 1_000)));
  expect(headers["content-type"]).toBe("application/json");
  expect(headers["user-agent"]).toMatch(/^petstore-inventory\/\d+\.\d+\.\d+/);

  const second = await rotateSecret(service.store, id, byCommand(service.clock.now()), 60_000);
  await service.becomes(async () => (await verifiedBy(second.secret))[0]!);
  expect(await verifiedBy(secret, second.secret, foreign)).toEqual([true, true, false]);
  service.clock.advance(60_000);
  expect(await verifiedBy(secret, second.secret)).toEqual([false, true]);
  service.clock.advance(-60_000);

  const third = await rotateSecret(service.store, id, byCommand(service.clock.now()), 0);
  await service.becomes(async () => (await verifiedBy(third.secret))[0]!);
  expect(await verifiedBy(secret, second.secret, third.secret)).toEqual([false, false, true]);
});
