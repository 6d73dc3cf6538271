import { engines } from "../../test/support/service.ts";
import type { Part, Round } from "../part.ts";
import { createRandom, type Random } from "../random.ts";
import { checkStore, patient, type Sample, type ServedStore, serveStore } from "../served.ts";
import { countedPets, createShoppers, type Shoppers } from "../shoppers.ts";
import { localWebhooks } from "../store.ts";
import { createClients, createReceiver } from "./clients.ts";
import { trendOf } from "./trend.ts";

const sampleEveryMs = 5_000;
const capacityMs = 5_000;
const connections = 32;
/** The load of a short round, which does not measure what the machine can do. */
const shortPerSecond = 60;
const shortMs = 2_500;
/** Webhooks may be a little behind the last update. */
const deliveryMsMax = 30_000;
/** Without as much time after the warm-up, trends are printed and not judged. */
const judgedSeconds = 300;
const flags = [...localWebhooks, ...["--backup-keep", "2", ...patient]];

/** What is sampled; p99 is that of the last few seconds. */
type Figures = Sample & { readonly p99Ms: number };
interface Sampled extends Figures {
  readonly seconds: number;
}

/** How much each figure may rise while it is measured. `walMb` also has a documented limit. */
const tolerances: Record<keyof Figures, (median: number) => number> = {
  memoryMb: (median) => Math.max(16, median * 0.1),
  descriptors: () => 8,
  threads: () => 4,
  walMb: () => 8,
  p99Ms: (median) => Math.max(5, median),
};
const figureNames = Object.keys(tolerances) as (keyof Figures)[];
/** The log may grow while a backup runs, and is cut to 16 MiB after that. */
const walMbMax = 16;

export const soak: Part = {
  name: "soak",
  share: 30,
  async round(round) {
    const soaked: ServedStore[] = [];
    try {
      for (const engine of engines)
        soaked.push(await serveStore(engine, countedPets, { isShort: round.isShort, flags }));
      const ended = await Promise.allSettled(
        soaked.map((served, at) => soakOne(round, served, createRandom(round.seed + at))),
      );
      for (const one of ended) if (one.status === "rejected") throw one.reason;
    } finally {
      for (const { leave } of soaked) await leave();
    }
  },
};

async function soakOne(round: Round, served: ServedStore, random: Random): Promise<void> {
  const { engine, baseUrl, key } = served;
  let failures = 0;
  // One fault may show in every answer.
  const fail: Round["fail"] = (wrong, what) =>
    void (failures++ < 20 && round.fail(wrong, `${engine}: ${what}`));
  const shoppers = createShoppers(served, random, fail);
  const clients = createClients(shoppers, random, fail);
  const receiver = createReceiver(fail);
  const watched = watch(served, shoppers);
  try {
    await shoppers.call("POST", "/admin/webhooks", {
      body: `{"url":"${receiver.url}"}`,
      status: 201,
    });
    const perSecond = round.isShort
      ? shortPerSecond
      : (await shoppers.sendAll(clients.mix, connections, capacityMs)) / 2;
    const endsAt = Math.max(round.endsAt, performance.now() + shortMs);
    watched.start();
    const backupEveryMs = Math.min(180_000, (endsAt - performance.now()) / 2);
    await Promise.all([
      shoppers.sendPaced(clients.mix, perSecond, endsAt),
      ...Array.from({ length: 4 }, () => clients.followFeed(baseUrl, key, endsAt)),
      clients.readSnapshots(endsAt),
      clients.operate(endsAt, backupEveryMs),
    ]);
    const samples = watched.stop();
    const { seq } = JSON.parse(await shoppers.call("GET", "/changes/head"));
    const patientUntil = performance.now() + deliveryMsMax;
    while (receiver.lastSeq() < seq && performance.now() < patientUntil) await Bun.sleep(50);
    if (receiver.lastSeq() !== seq)
      fail("lost", `the webhook got the rows up to ${receiver.lastSeq()} of ${seq}`);
    await checkStore(served, fail, (quantities) => {
      shoppers.compare(quantities);
      clients.compareBatches(quantities);
    });
    round.acknowledged(shoppers.acknowledged + clients.acknowledged);
    round.faults(clients.faults);
    const sent = `${Math.round(perSecond)} requests per second, ${shoppers.skipped} not sent`;
    round.figure(`${engine} load`, sent);
    judge(round, engine, samples);
  } finally {
    watched.stop();
    await receiver.stop();
  }
}

/** Samples the process now and then. Prints a line a minute. */
function watch({ engine, sample }: ServedStore, shoppers: Shoppers) {
  const samples: Sampled[] = [];
  let startedAt = 0;
  let timer: ReturnType<typeof setInterval> | undefined;
  function take(): void {
    const seconds = (performance.now() - startedAt) / 1_000;
    const p99Ms = shoppers.latencies().percentileMs(0.99);
    const now = { seconds, p99Ms, ...sample() };
    samples.push(now);
    if (samples.length % 12 === 0) console.log(`soak: ${engine}: ${JSON.stringify(now, rounded)}`);
  }
  return {
    start(): void {
      shoppers.latencies();
      startedAt = performance.now();
      timer = setInterval(take, sampleEveryMs);
    },
    stop(): readonly Sampled[] {
      clearInterval(timer);
      return samples;
    },
  };
}

function rounded(_name: string, value: unknown): unknown {
  return typeof value === "number" ? Number(value.toFixed(1)) : value;
}

/** Prints the trend of every figure after the warm-up: the first third of the time. */
function judge(round: Round, engine: string, samples: readonly Sampled[]): void {
  const settled = samples.slice(Math.floor(samples.length / 3));
  if (settled.length < 2) return;
  const seconds = settled.at(-1)!.seconds - settled[0]!.seconds;
  for (const name of figureNames) {
    const points = settled.map((one) => ({ seconds: one.seconds, value: one[name] }));
    const { median, perHour, riseMin } = trendOf(points);
    const largest = Math.max(...points.map(({ value }) => value));
    const text = `median ${median.toFixed(1)}, largest ${largest.toFixed(1)}, ${perHour >= 0 ? "+" : ""}${perHour.toFixed(1)} an hour`;
    round.figure(`${engine} ${name}`, text);
    if (seconds >= judgedSeconds && riseMin > tolerances[name](median))
      round.fail(
        "wrong",
        `${engine}: ${name} has risen by at least ${riseMin.toFixed(1)} in ${Math.round(seconds)} s: ${text}`,
      );
    if (name === "walMb" && median > walMbMax)
      round.fail("wrong", `${engine}: the log is not cut to ${walMbMax} MiB: ${text}`);
  }
}
