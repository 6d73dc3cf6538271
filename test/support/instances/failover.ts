import { expect } from "bun:test";
import { checkHistory } from "../linearizability/checker.ts";
import { startPostgres } from "../postgres.ts";
import { startStandby } from "../postgres-standby.ts";
import { boundless, startFleet, until } from "./fleet.ts";
import { startRecorder } from "./recording.ts";
import { startTraffic } from "./traffic.ts";

export interface Failover {
  readonly acknowledged: number;
  readonly unknown: number;
  readonly reads: number;
  /** From the standby's promotion until every instance accepts updates again. */
  readonly recoveryMs: number;
}

const pets = [1n, 2n, 3n, 4n, 5n, 6n];

/**
 * Kills a primary under load and promotes its synchronous standby. The instances know only both
 * addresses. A primary that is paused instead goes on when the instances use the other one, with the
 * updates that were on their way to it.
 */
export async function failOver(
  instances: number,
  updatesBefore: number,
  fault: "killed" | "paused",
  pauseMsMax?: number,
): Promise<Failover> {
  const primary = await startPostgres();
  const name = new URL(await primary.freshDatabase()).pathname;
  const standby = await startStandby(primary, { synchronous: true });
  const hosts = `127.0.0.1:${standby.port},127.0.0.1:${primary.port}`;
  const databaseUrl = `postgres://postgres@${hosts}${name}`;
  const fleet = await startFleet(databaseUrl, { size: instances, pets });
  try {
    const { key } = await fleet.issueKey(...boundless);
    const recorder = await startRecorder(fleet, key, primary.url(name.slice(1)));
    const traffic = startTraffic(fleet, recorder, { pets, writers: 9, readers: 6, pauseMsMax });
    await traffic.moreUpdates(updatesBefore);
    if (fault === "killed") await primary.kill();
    else primary.pause();
    await standby.promote();
    const isBack = async (index: number) =>
      (await recorder.update(index, pets[0]!)) === "acknowledged";
    const recoveries = Array.from({ length: instances }, (_, index) =>
      until(() => isBack(index), 10_000, `recovery of instance ${index}`),
    );
    const recoveryMs = Math.max(...(await Promise.all(recoveries)));
    if (fault === "paused") primary.resume();
    await traffic.moreUpdates(updatesBefore);
    await traffic.end();
    expect(recorder.surprises).toEqual([]);
    expect(checkHistory(await recorder.history(standby.url(name.slice(1))))).toEqual([]);
    expect(await fleet.place.runHere(["verify", "--database", databaseUrl])).toMatchObject({
      code: 0,
      err: "",
    });
    return {
      acknowledged: recorder.acknowledged(),
      unknown: recorder.updates.filter(({ outcome }) => outcome === "unknown").length,
      reads: recorder.reads.length,
      recoveryMs,
    };
  } finally {
    await fleet.leave();
    await standby.destroy();
    await primary.destroy();
  }
}
