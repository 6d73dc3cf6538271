import { test } from "bun:test";
import { answer, confirm, startReceiver } from "../support/webhooks/receiver.ts";
import { startWebhookService } from "../support/webhooks/service.ts";

const hourMs = 3_600_000;

async function startFailing() {
  const service = await startWebhookService("sqlite");
  const receiver = await startReceiver(answer(500));
  const { id } = await service.create({ url: receiver.url });
  const hasFailed = (times: number) =>
    service.becomes(async () => (await service.find(id)).failures === times);
  await service.change(1);
  await hasFailed(1);
  return {
    ...{ service, receiver, hasFailed },
    /** The next attempt is made soon after a restart. */
    async continues(): Promise<void> {
      await service.restart();
      await service.becomes(() => receiver.confirmed.length === 1);
      await service.stop();
      await receiver.stop();
    },
  };
}

test("a clock that goes back does not stop retries, also if the service restarts", async () => {
  const { service, receiver, hasFailed, continues } = await startFailing();
  service.clock.advance(-30 * 24 * hourMs);
  // The first delay is at most five seconds of real time.
  await service.becomes(() => receiver.received.length === 2);
  await hasFailed(2);
  receiver.behave(confirm);
  service.clock.advance(-hourMs);
  await continues();
});

test("a failure while the clock was ahead does not delay the next attempt after a restart", async () => {
  const { service, receiver, hasFailed, continues } = await startFailing();
  service.clock.jump(hourMs);
  await hasFailed(2);
  receiver.behave(confirm);
  service.clock.jump(-hourMs);
  await continues();
});
