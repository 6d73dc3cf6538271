// Offers five times what the service can do.
import type { Round } from "../part.ts";
import { checkStore, patient, type ServedStore, serveStore } from "../served.ts";
import { countedPets, createShoppers } from "../shoppers.ts";
import { asFastAsPossible, type Offer, type OfferReport } from "./offering.ts";
import { startWorker } from "./worker.ts";

const offeredFactor = 5;
/** At least this share of the peak must be done under the flood. */
const goodShareMin = 0.8;
/** Refusals and the time after the flood are never judged below these. */
const refusedMsMax = 1_000;
const recoveredMsMin = 20;
const tries = 3;

/** With so few waiting updates, a flood on this many connections also leads to refusals. */
const waitingMax = 1_000;
const connections = 1_200;
/** As many as the service needs to be busy all the time. */
const peakConnections = 256;

export async function flood(round: Round, engine: ServedStore["engine"]): Promise<void> {
  const { isShort, random } = round;
  const flags = ["--writes-waiting-max", String(waitingMax), ...patient];
  const worker = startWorker<Offer, OfferReport>("offering.ts");
  let served: ServedStore | undefined;
  try {
    served = await serveStore(engine, countedPets, { isShort, flags });
    const { baseUrl, key } = served;
    const port = Number(new URL(baseUrl).port);
    const fail: Round["fail"] = (wrong, what) => round.fail(wrong, `${engine}: ${what}`);
    const { call } = createShoppers(served, random, fail);
    const seq = async () => JSON.parse(await call("GET", "/changes/head")).seq as number;
    let quantity = 1;

    /** Offers requests, which are all answered. As many rows must be stored as were acknowledged. */
    async function offer(one: Pick<Offer, "method" | "connections" | "perSecond" | "ms">) {
      const before = await seq();
      const report = await worker.send({ ...one, port, key, quantity });
      quantity += 10_000_000;
      for (const what of report.wrong) fail("wrong", what);
      const stored = (await seq()) - before;
      const told = one.method === "PATCH" ? report.good.requests : 0;
      if (stored < told) fail("lost", `${told} updates acknowledged, ${stored} stored`);
      if (stored > told) fail("late", `${told} updates acknowledged, ${stored} stored`);
      round.acknowledged(report.good.requests);
      round.faults(report.refused.requests + report.unsent);
      return report;
    }

    for (const method of ["PATCH", "GET"] as const) {
      for (let left = isShort ? 1 : tries; left > 0; left--) {
        const problem = await tryFlood(round, engine, method, offer);
        if (problem === undefined || isShort) break;
        if (left === 1) fail("wrong", `${method}: ${problem}`);
      }
    }
    await checkStore(served, fail, () => {});
  } finally {
    await worker.stop();
    await served?.leave();
  }
}

type Offering = (
  one: Pick<Offer, "method" | "connections" | "perSecond" | "ms">,
) => Promise<OfferReport>;

/** Returns what was too slow. Other programs of the machine may be the reason, so it is tried again. */
async function tryFlood(
  round: Round,
  engine: string,
  method: Offer["method"],
  offer: Offering,
): Promise<string | undefined> {
  const ms = round.isShort ? 150 : 2_000;
  const quietly = () => offer({ method, connections: 4, perSecond: 100, ms });
  const fully = () =>
    offer({ method, connections: peakConnections, perSecond: asFastAsPossible, ms });
  const quiet = await quietly();
  const first = await fully();
  const flooded = await offer({
    method,
    connections,
    perSecond: offeredFactor * first.goodPerSecond,
    ms: ms * 2,
  });
  const recovered = await quietly();
  const second = await fully();
  const peak = (first.goodPerSecond + second.goodPerSecond) / 2;
  const share = flooded.goodPerSecond / peak;
  const { refused } = flooded;
  round.figure(
    `${engine} ${method} flood`,
    `peak ${Math.round(peak)} a second, ${Math.round(share * 100)} % of it when ${offeredFactor} times as much is offered; ` +
      `${refused.requests} refused, p99 ${refused.p99Ms.toFixed(0)} ms (good: ${flooded.good.p99Ms.toFixed(0)} ms); ` +
      `p99 ${quiet.good.p99Ms.toFixed(1)} ms before, ${recovered.good.p99Ms.toFixed(1)} ms after`,
  );
  if (share < goodShareMin)
    return `only ${Math.round(share * 100)} % of ${Math.round(peak)} a second`;
  if (refused.p99Ms > Math.max(refusedMsMax, flooded.good.p99Ms))
    return `refusals take ${refused.p99Ms.toFixed(0)} ms`;
  if (recovered.good.p99Ms > Math.max(recoveredMsMin, 3 * quiet.good.p99Ms))
    return `p99 ${recovered.good.p99Ms.toFixed(0)} ms right after, ${quiet.good.p99Ms.toFixed(0)} ms before`;
  return undefined;
}
