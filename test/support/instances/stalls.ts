import { signalAll } from "../postgres.ts";
import { until } from "../until.ts";
import type { Cluster } from "./cluster.ts";
import { findCommitConnections } from "./commit-connections.ts";
import type { SlowProxy } from "./slow-network.ts";

/** Faults in which the database gets to commits later than their instance waits, or never. */
export const stalls = [
  "commits are held on their way and delivered late",
  "commits are delayed again and again",
  "connections are cut while commits are on their way",
  "commits are lost on their way",
  "server processes of commits are stopped and go on late",
  "the database is paused and goes on late",
] as const;
export type Stall = (typeof stalls)[number];

export const isStall = (fault: string): fault is Stall => stalls.some((one) => one === fault);

/** Longer than an instance waits for a commit. */
const longMs = 4_000;
/** About as long as a commit may be under way. */
const shortMsMax = 1_200;

const patienceMs = 20_000;

/** Lets one fault happen to the commits of the instance behind the proxy. Resolves once it is over. */
export async function stall(
  fault: Stall,
  { server, databaseUrl, proxies }: Cluster,
  victim: number,
  moreUpdates: () => Promise<unknown>,
  random = Math.random,
): Promise<void> {
  const proxy = proxies[victim]!;
  switch (fault) {
    case "commits are held on their way and delivered late": {
      const held = proxy.hold(await portsOfCommits(databaseUrl, proxy));
      await until(() => held.keptBytes() > 0, patienceMs, "a commit on its way");
      await Bun.sleep(longMs);
      held.release();
      break;
    }
    case "commits are delayed again and again":
      for (let turn = 0; turn < 4; turn++) {
        const held = proxy.hold(await portsOfCommits(databaseUrl, proxy));
        await Bun.sleep(shortMsMax * random());
        held.release();
      }
      break;
    case "connections are cut while commits are on their way": {
      const held = proxy.hold(await portsOfCommits(databaseUrl, proxy));
      await until(() => held.keptBytes() > 0, patienceMs, "a commit on its way");
      held.cut();
      await moreUpdates();
      held.release();
      break;
    }
    case "commits are lost on their way": {
      const held = proxy.hold(await portsOfCommits(databaseUrl, proxy));
      await Bun.sleep(longMs);
      held.drop();
      break;
    }
    case "server processes of commits are stopped and go on late": {
      const pids = (await commitsBehind(databaseUrl, proxy)).map(({ pid }) => pid);
      signalAll(pids, "SIGSTOP");
      await Bun.sleep(longMs);
      signalAll(pids, "SIGCONT");
      break;
    }
    case "the database is paused and goes on late":
      server!.pause();
      await Bun.sleep(longMs);
      server!.resume();
      break;
  }
}

/** The connections through the proxy on which commits are sent. Waits until there is one. */
async function commitsBehind(databaseUrl: string, proxy: SlowProxy) {
  let found: Awaited<ReturnType<typeof findCommitConnections>> = [];
  const isFound = async () => {
    const ports = proxy.serverPorts();
    const connections = await findCommitConnections(databaseUrl);
    found = connections.filter(({ port }) => ports.includes(port));
    return found.length > 0;
  };
  await until(isFound, patienceMs, "a connection with commits");
  return found;
}

async function portsOfCommits(databaseUrl: string, proxy: SlowProxy): Promise<number[]> {
  return (await commitsBehind(databaseUrl, proxy)).map(({ port }) => port);
}
