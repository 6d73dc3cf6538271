import { engines } from "../../test/support/service.ts";
import { openCertificateFolder } from "../../test/support/tls.ts";
import type { Part, Round } from "../part.ts";
import { checkStore, type ServedStore, serveStore } from "../served.ts";
import { countedPets, createShoppers, type Shoppers } from "../shoppers.ts";
import type { AttackReport, Order } from "./attacker.ts";
import { flood } from "./flood.ts";
import { attackedPets, type ShapeName, shapes } from "./shapes.ts";
import { startWorker } from "./worker.ts";

/** The good clients send so many updates and reads per second. */
const goodPerSecond = 100;
const attackMs = 3_000;
const shortAttackMs = 100;
/** During an attack, the p99 of good clients is at most this many times that of a quiet service. */
const p99Factor = 3;
/** It is never judged below this. */
const p99FloorMs = 10;
const triesMax = 5;
/** Others wait while a body of 250 KB is parsed, and while a batch of 1,000 changes is stored. */
const p99FloorsMs: Partial<Record<ShapeName, number>> = { largeBodies: 60, largeBatches: 100 };
/** How much memory an attack may take: what old lists for slow readers may take, the largest documented limit. */
const memoryMbMax = 128;
/** How many more descriptors than before an attack may be open soon after it. */
const descriptorsMore = 8;
/** Good clients may have opened more connections too. The service closes idle ones after 10 seconds. */
const settleMsMax = 30_000;

const overTls: readonly ShapeName[] = ["tlsStalls", "slowHeads", "connections"];
const plain = (Object.keys(shapes) as ShapeName[]).filter((name) => name !== "tlsStalls");
const shapesPerRound = 5;

export const overload: Part = {
  name: "overload",
  share: 2,
  async round(round) {
    const { seed, random, isShort } = round;
    if (isShort) {
      await attackService(round, "sqlite", plain, false);
      await attackService(round, "sqlite", ["tlsStalls"], true);
      return flood(round, "sqlite");
    }
    // Seeds that follow each other try everything, each seed the same.
    const groups = Math.ceil(plain.length / shapesPerRound);
    const group = seed % (groups + 2);
    const engine = random.pick(engines);
    if (group === groups) return flood(round, engine);
    if (group > groups) return attackService(round, engine, overTls, true);
    const first = group * shapesPerRound;
    await attackService(round, engine, plain.slice(first, first + shapesPerRound), false);
  },
};

/** Starts a service, lets good clients use it, and attacks it with one shape after the other. */
async function attackService(
  round: Round,
  engine: ServedStore["engine"],
  names: readonly ShapeName[],
  isTls: boolean,
): Promise<void> {
  const { random, isShort } = round;
  const certificate = openCertificateFolder("first");
  const { certFile, keyFile } = certificate;
  const flags = isTls ? ["--tls-cert", certFile, "--tls-key", keyFile] : [];
  const attackers = startWorker<Order, AttackReport>("attacker.ts");
  let served: ServedStore | undefined;
  try {
    served = await serveStore(engine, [...countedPets, ...attackedPets], { isShort, flags });
    const fail: Round["fail"] = (wrong, what) => round.fail(wrong, `${engine}: ${what}`);
    const shoppers = createShoppers(served, random, fail);
    const hostile = '{"name":"Hostile","plan":"enterprise","perMinute":1000000,"perDay":100000000}';
    const made = await shoppers.call("POST", "/admin/keys", { body: hostile, status: 201 });
    const { baseUrl, operatorKey } = served;
    const key = JSON.parse(made).key as string;
    const trial = createTrial(round, served, shoppers, async (shape, ms) => {
      const seed = random.below(2 ** 32);
      const order = { baseUrl, key, operatorKey, shape, ms, seed };
      const { connections, malformed } = await attackers.send(order);
      round.faults(connections);
      for (const what of malformed) fail("wrong", `${shape}: ${what}`);
    });
    for (const name of names) await trial(name);
    await checkStore(served, fail, shoppers.compare);
    round.acknowledged(shoppers.acknowledged);
  } finally {
    await attackers.stop();
    await served?.leave();
    certificate.remove();
  }
}

function createTrial(
  round: Round,
  { engine, sample }: ServedStore,
  shoppers: Shoppers,
  attack: (name: ShapeName, ms: number) => Promise<void>,
): (name: ShapeName) => Promise<void> {
  const ms = round.isShort ? shortAttackMs : attackMs;
  const mix = [shoppers.update, shoppers.readEntry, shoppers.readList];

  /** Lets good clients work, and returns their p99. */
  async function p99Of(durationMs: number): Promise<number> {
    shoppers.latencies();
    await shoppers.sendPaced(mix, goodPerSecond, performance.now() + durationMs);
    return shoppers.latencies().percentileMs(0.99);
  }

  /** Returns the p99 before and during the attack. */
  async function measure(name: ShapeName) {
    const quiet = round.isShort ? 0 : await p99Of(ms);
    const before = sample();
    let memoryMb = before.memoryMb;
    const timer = setInterval(() => {
      memoryMb = Math.max(memoryMb, sample().memoryMb);
    }, 50);
    const [attacked] = await Promise.all([p99Of(ms), attack(name, ms)]).finally(() =>
      clearInterval(timer),
    );
    const taken = memoryMb - before.memoryMb;
    if (taken > memoryMbMax) round.fail("wrong", `${engine}: ${name} took ${Math.round(taken)} MB`);
    await settle(name, before.descriptors + descriptorsMore);
    return { quiet, attacked, taken };
  }

  async function settle(name: ShapeName, descriptors: number): Promise<void> {
    const endsAt = performance.now() + settleMsMax;
    while (sample().descriptors > descriptors && performance.now() < endsAt) await Bun.sleep(20);
    const left = sample().descriptors;
    if (left > descriptors)
      round.fail(
        "wrong",
        `${engine}: ${left} descriptors are open after ${name}, not ${descriptors}`,
      );
  }

  return async (name) => {
    let { quiet, attacked, taken } = await measure(name);
    if (round.isShort) return;
    const floorMs = p99FloorsMs[name] ?? p99FloorMs;
    const isSlow = () => attacked > Math.max(floorMs, p99Factor * quiet);
    // The p99 of 300 requests is that of three of them, and other programs of the machine may have made
    // these slow. So it counts only if it happens every time.
    for (let tries = 1; isSlow() && tries < triesMax; tries++) {
      ({ quiet, attacked, taken } = await measure(name));
    }
    const times = `p99 ${quiet.toFixed(1)} ms quiet, ${attacked.toFixed(1)} ms attacked, ${taken.toFixed(0)} MB more`;
    round.figure(`${engine} ${name}`, times);
    if (isSlow()) round.fail("wrong", `${engine}: good clients wait during ${name}: ${times}`);
  };
}
