import { afterEach, expect, test } from "bun:test";
import { anEntry } from "../support/audit.ts";
import { surfaceEngine } from "../support/service.ts";
import { confirm, type Receiver, startReceiver } from "../support/webhooks/receiver.ts";
import { range, startWebhookService } from "../support/webhooks/service.ts";

let receiver: Receiver;
afterEach(() => receiver.stop());

test.each([surfaceEngine])(
  "a service on %s that stops during an attempt cuts it off, and continues with it after a start",
  async (engine) => {
    receiver = await startReceiver(() => {});
    const service = await startWebhookService(engine, { timeoutMs: 600_000 });
    const { id } = await service.create({ url: receiver.url });
    const last = await service.change(1, 2);
    await service.becomes(() => receiver.received.length === 1);
    await service.restart();
    receiver.behave(confirm);
    await service.becomes(() => receiver.confirmed.at(-1) === last);
    const [one, two] = receiver.received.map(({ headers }) => headers["webhook-id"]);
    expect(two).toBe(one!);
    // What this process cut off is no failure of the receiver.
    expect(service.events(id)).toEqual([]);
    expect((await service.find(id)).failures).toBe(0);
    await service.stop();
  },
);

test("after a failover that lost delivered rows, a webhook continues after the last common row", async () => {
  receiver = await startReceiver();
  const service = await startWebhookService("sqlite");
  const last = await service.change(1, 2);
  const { id } = await service.create({ url: receiver.url });
  const { cursor } = await service.find(id);
  /** Gives the webhook the cursor of a store with another history. */
  const moveTo = async (lost: typeof cursor) => {
    const { version, replays } = await service.find(id);
    const change = { cursor: lost, replays: replays + 1 };
    expect(await service.store.webhooks.changeWebhook(id, version, change, anEntry)).toBe(true);
  };
  await moveTo({ ...cursor, seq: last + 3 });
  await service.becomes(() => service.events(id).length === 1);
  expect(service.events(id)).toMatchObject([
    {
      event: "webhook continues after lost rows",
      cursor: `${cursor.epoch}-${last + 3}`,
      seq: last,
    },
  ]);
  await service.change(3);
  await service.becomes(() => receiver.confirmed.length === 1);
  expect(receiver.confirmed).toEqual([last + 1]);
  // Nothing is known to be common with an unknown epoch.
  await moveTo({ epoch: "unknown", seq: 1 });
  await service.becomes(() => receiver.confirmed.length > 1);
  expect(receiver.confirmed).toEqual([last + 1, ...range(1, last + 1)]);
  await service.stop();
});
