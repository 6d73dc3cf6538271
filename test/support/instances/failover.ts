import { checkHistory } from "../linearizability/checker.ts";
import { until } from "../until.ts";
import { findStoreFaults } from "./cluster.ts";
import { startPair } from "./pair.ts";
import { startRecorder } from "./recording.ts";
import { startTraffic } from "./traffic.ts";

export interface Failover {
  readonly acknowledged: number;
  readonly unknown: number;
  readonly reads: number;
  /** From the standby's promotion until every instance accepts updates again. */
  readonly recoveryMs: number;
  /** What a correct service does not do. */
  readonly wrong: readonly string[];
}

const pets = [1n, 2n, 3n, 4n, 5n, 6n];

/** So long, most connections to a server that does not respond are not closed without requests. */
const silentMs = 12_000;

/** What happens to the primary. */
export const failovers = ["killed", "paused", "silent"] as const;

/**
 * Kills a primary under load and promotes its synchronous standby. The instances know only both
 * addresses. A primary that is paused instead goes on when the instances use the other one, with the
 * updates that were on their way to it. A silent one is behind a proxy that keeps old connections, and is
 * paused while nobody sends requests.
 */
export async function failOver(
  instances: number,
  updatesBefore: number,
  fault: (typeof failovers)[number],
  pauseMsMax?: number,
): Promise<Failover> {
  const through = fault === "silent" ? "proxy" : "hosts";
  await using pair = await startPair({ synchronous: true, through, size: instances, pets });
  const { primary, standby, proxy, fleet, key, urls } = pair;
  const recorder = await startRecorder(fleet, key, urls.primary);
  const start = () => startTraffic(fleet, recorder, { pets, writers: 9, readers: 6, pauseMsMax });
  let traffic = start();
  await traffic.moreUpdates(updatesBefore);
  if (fault === "silent") await traffic.end();
  if (fault === "killed") await primary.kill();
  else primary.pause();
  const silent = fault === "silent" && Bun.sleep(silentMs);
  await standby.promote();
  proxy.redirect(standby.port);
  await silent;
  if (fault === "silent") {
    primary.resume();
    traffic = start();
  }
  const isBack = async (index: number) =>
    (await recorder.update(index, pets[0]!)) === "acknowledged";
  const recoveries = Array.from({ length: instances }, (_, index) =>
    until(() => isBack(index), 10_000, `recovery of instance ${index}`),
  );
  const recoveryMs = Math.max(...(await Promise.all(recoveries)));
  if (fault === "paused") primary.resume();
  await traffic.moreUpdates(updatesBefore);
  await traffic.end();
  const history = await recorder.history(urls.standby);
  return {
    acknowledged: recorder.acknowledged(),
    unknown: recorder.updates.filter(({ outcome }) => outcome === "unknown").length,
    reads: recorder.reads.length,
    recoveryMs,
    wrong: [
      ...recorder.surprises,
      ...checkHistory(history).map(({ kind, message }) => `${kind}: ${message}`),
      ...(await findStoreFaults({ databaseUrl: urls.standby, fleet }, key)),
    ],
  };
}
