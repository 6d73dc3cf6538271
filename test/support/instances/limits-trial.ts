import { until } from "../until.ts";
import { inflict, type Sequence } from "./chaos.ts";
import { startCluster } from "./cluster.ts";
import { makeTimeMovable, startNext } from "./movable-time.ts";
import { startSpending } from "./spending.ts";

const perMinute = 60;

/** Resolves to false if the database does not answer yet. */
const isDone = (work: Promise<unknown>) =>
  work.then(
    () => true,
    () => false,
  );

/**
 * Clients that spend the limit of one key on every instance, and one fault after another, each in a minute
 * of its own. The key is too small to be counted in advance, so its limit is exact.
 */
export async function endureSpending({ sequence, instances = 3, random }: Sequence) {
  await using cluster = await startCluster("postgres", {
    size: instances,
    pets: [1n],
    flags: ["--ban-strikes-min", "900000000"],
  });
  const { fleet, databaseUrl, proxies } = cluster;
  await makeTimeMovable(databaseUrl);
  // Open connections do not know the new path of the search.
  for (const proxy of proxies) proxy.cut();
  const limits = ["--per-minute", `${perMinute}`, "--per-day", "100000"];
  const { key } = await fleet.issueKey("--plan", "enterprise", ...limits);
  const spending = startSpending(fleet, key, 4, { hasFaults: true });
  for (const [turn, fault] of sequence.entries()) {
    const move = () => isDone(startNext(databaseUrl, "minute"));
    await until(move, 20_000, "the next minute");
    await spending.moreAdmitted(perMinute / 4);
    await inflict(fault, cluster, turn % instances, async () => {}, random);
  }
  await spending.end();
  const windows = spending.windows();
  return {
    acknowledged: spending.admitted(),
    wrong: [
      ...spending.surprises,
      ...windows.flatMap(({ admitted, resetAt }) =>
        admitted > perMinute ? [`${admitted} of ${perMinute} were admitted until ${resetAt}`] : [],
      ),
    ],
  };
}
