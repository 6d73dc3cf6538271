import { expect, test } from "bun:test";
import { readLedger, seqOfRow } from "../support/feed-trial/changes.ts";
import { startFleet } from "../support/instances/fleet.ts";
import { startPair } from "../support/instances/pair.ts";
import { startPostgres } from "../support/postgres.ts";
import { until } from "../support/until.ts";
import { endureWebhookFaults, type WebhookFault } from "../support/webhook-trial/faults.ts";
import {
  localSending,
  quickInstances,
  rowsOf,
  startWebhookTrial,
  webhookTrialPets,
} from "../support/webhook-trial/trial.ts";

const webhooks = 12;
const rounds = 40;

const faults: readonly WebhookFault[] = [
  "an instance is killed",
  "an instance is replaced in good order",
  "the receiver dies",
];

// The same on PostgreSQL is a part of `npm run survive`.
test(`a receiver that fails in every way gets every change in order over ${rounds} faults on SQLite`, async () => {
  const sequence = Array.from({ length: rounds }, (_, turn) => faults[turn % faults.length]!);
  const figures = await endureWebhookFaults("sqlite", { webhooks, sequence, requestsBetween: 30 });
  console.log(JSON.stringify(figures));
  expect(figures.wrong).toEqual([]);
}, 900_000);

const stoppedMs = 60_000;
/** A lease, the time until the other instance claims it, and the delay of the receiver. */
const takeoverMsMax = 45_000;

test("an instance that is stopped for a minute, in an attempt, loses its webhook and does not disturb the next one", async () => {
  const server = await startPostgres();
  const databaseUrl = await server.freshDatabase();
  const fleet = await startFleet(databaseUrl, {
    size: 2,
    pets: webhookTrialPets,
    runOptions: () => ({ env: localSending }),
  });
  try {
    const trial = await startWebhookTrial(fleet, { databaseUrl, webhooks: 1, delayMs: 500 });
    const { arrivals } = trial.webhooks[0]!.endpoint;
    const more = (count: number, patienceMs: number) => {
      const enough = arrivals.length + count;
      return until(() => arrivals.length >= enough, patienceMs, `${count} requests`);
    };
    await more(3, 30_000);
    let holder = 0;
    fleet.instance(holder).kill("SIGSTOP");
    const isHolder = await more(4, 6_000).then(
      () => false,
      () => true,
    );
    if (!isHolder) {
      fleet.instance(holder).kill("SIGCONT");
      holder = 1;
      await more(1, 6_000);
      fleet.instance(holder).kill("SIGSTOP");
    }
    const stoppedAt = performance.now();
    const takeoverMs = await more(2, takeoverMsMax);
    await until(() => performance.now() - stoppedAt > stoppedMs, stoppedMs, "a minute");
    const before = arrivals.length;
    fleet.instance(holder).kill("SIGCONT");
    await more(20, 30_000);
    const ids = arrivals.slice(before).map(({ headers }) => headers["webhook-id"]);
    // The instance that woke up sends nothing, so no message comes twice.
    expect(new Set(ids).size).toBe(ids.length);
    await trial.end();
    // The connection of the stopped instance stays open until it wakes up.
    const figures = await trial.compareWithLedger(stoppedMs + 10_000);
    expect(figures.wrong).toEqual([]);
    console.log(JSON.stringify({ takeoverMs: Math.round(takeoverMs), ...figures }));
    await trial.receiver.stop();
  } finally {
    await fleet.leave();
    await server.destroy();
  }
}, 300_000);

test("after a failover that loses rows, a webhook gets every row that took the place of a lost one", async () => {
  const options = { size: 2, pets: webhookTrialPets, ...quickInstances };
  await using pair = await startPair({ synchronous: false, ...options });
  const { primary, standby, fleet } = pair;
  const trial = await startWebhookTrial(fleet, {
    databaseUrl: pair.urls.primary,
    webhooks: 1,
    delayMs: 0,
  });
  await trial.changes.more(20);
  await trial.changes.end();
  const { arrivals } = trial.webhooks[0]!.endpoint;
  const { key } = trial;
  const headSeq = async () => (await readLedger(fleet, key)).length;
  const kept = await headSeq();
  await trial.arrived(kept);
  await pair.replayed();
  await standby.stop();
  for (const quantity of [71, 72, 73]) expect(await pair.patch(quantity)).toBe(200);
  await trial.arrived(kept + 3);
  await primary.kill();
  await standby.start();
  await standby.promote();
  const before = arrivals.length;
  await pair.acknowledged(81);
  await until(() => arrivals.length > before, 30_000, "a request");
  await pair.acknowledged(82);
  const rows = await readLedger(fleet, key);
  await trial.arrived(rows.length);
  const delivered = arrivals.slice(before).flatMap(rowsOf);
  expect(seqOfRow(delivered[0]!)).toBeLessThanOrEqual(kept + 1);
  expect([...new Set(delivered)]).toEqual(rows.slice(-new Set(delivered).size));
  console.log(JSON.stringify({ kept, rows: rows.length, delivered: delivered.length }));
  await trial.receiver.stop();
}, 120_000);
