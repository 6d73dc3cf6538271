import { describe, expect, test } from "bun:test";
import { retryDelayMs } from "../../src/domain/webhooks/retries.ts";
import { answer, confirm, startReceiver } from "../support/webhooks/receiver.ts";
import { startWebhookService } from "../support/webhooks/service.ts";

const hourMs = 3_600_000;

describe("the delay before the next attempt", () => {
  test("is anything below a bound that doubles from 5 s to 4 h", () => {
    const almostOne = () => 1 - Number.EPSILON;
    const bounds = [1, 2, 3, 12, 13, 50, 5_000].map((n) => retryDelayMs(n, null, almostOne));
    expect(bounds).toEqual([5_000, 10_000, 20_000, 10_240_000, 4, 4, 4].map(orHours));
    expect([1, 5, 50].map((n) => retryDelayMs(n, null, () => 0))).toEqual([0, 0, 0]);
    expect(retryDelayMs(3, null, () => 0.5)).toBe(10_000);
  });

  test("is at least what the receiver asked for, up to a day", () => {
    expect(retryDelayMs(1, 60_000, () => 0.5)).toBe(60_000);
    expect(retryDelayMs(10, 60_000, () => 0.5)).toBe(1_280_000);
    expect(retryDelayMs(1, 30 * 24 * hourMs, () => 0)).toBe(24 * hourMs);
  });

  const orHours = (value: number) => (value === 4 ? 4 * hourMs : value);
});

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
