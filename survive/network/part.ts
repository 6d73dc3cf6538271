import { endureFeedFaults } from "../../test/support/feed-trial/faults.ts";
import { type AnyFault, endureFaults, faults } from "../../test/support/instances/chaos.ts";
import { type Disturbance, disturbances } from "../../test/support/instances/disturbances.ts";
import { failOver, failovers } from "../../test/support/instances/failover.ts";
import { endureSpending } from "../../test/support/instances/limits-trial.ts";
import { mountSmallDisk } from "../../test/support/instances/small-disk.ts";
import { stalls } from "../../test/support/instances/stalls.ts";
import { endureRetries } from "../../test/support/safe-writes/trial.ts";
import { endureWebhookFaults } from "../../test/support/webhook-trial/faults.ts";
import type { Part, Round, Wrong } from "../part.ts";

/** What a trial found. */
interface Result {
  /** How many operations were acknowledged. */
  readonly acknowledged: number;
  readonly wrong: readonly string[];
}

/** Lets clients use instances on PostgreSQL, injects faults, and checks what the clients saw. */
type Trial = (round: Round, instances: number) => Promise<Result>;

let canMount: boolean | undefined;

/** Whether this machine lets us mount a disk that can be full. */
function hasSmallDisks(): boolean {
  if (canMount === undefined) {
    const disk = mountSmallDisk();
    disk?.leave();
    canMount = disk !== undefined;
  }
  return canMount;
}

/** The disk is full only in rounds with a small one. */
const frequent = disturbances.filter((fault) => fault !== "the disk is full");

/** These lose counts of requests that no commit had waited for, as documented. */
const crashes: readonly string[] = [
  "a server process is killed",
  "the database is killed",
  "an instance and the database are killed together",
];

/** These keep a connection to a receiver open while another instance takes over. */
const sleeps: readonly string[] = ["an instance is stopped and wakes up late"];

function chosen<F>({ random, isShort }: Round, some: readonly F[], count = 40): F[] {
  return Array.from({ length: isShort ? 3 : count }, () => random.pick(some));
}

/** Many faults of a moment, and these in between. */
function mixed<F extends string>(round: Round, rare: readonly F[]): (F | Disturbance)[] {
  return round.random.shuffle<F | Disturbance>([...chosen(round, frequent), ...rare]);
}

const without = (some: readonly string[]) => faults.filter((fault) => !some.includes(fault));

const trials: Record<string, Trial> = {
  async updates(round, instances) {
    const { random, isShort } = round;
    const hasSmallDisk = !isShort && random.chance(0.25) && hasSmallDisks();
    const rare: AnyFault[] = isShort ? [] : [random.pick(stalls), random.pick(faults)];
    const full: AnyFault[] = hasSmallDisk ? ["the disk is full", "the disk is full"] : [];
    return run(round, mixed(round, [...rare, ...full]), (sequence) =>
      endureFaults({
        ...{ sequence, instances, hasSmallDisk, random: random.fraction },
        ...{ updatesBetween: 10, pauseMsMax: 30, isKeyed: random.chance(0.3) },
      }),
    );
  },
  retries: (round, instances) =>
    run(round, mixed(round, chosen(round, faults, 2)), (sequence) =>
      endureRetries("postgres", sequence.length, 10, {
        ...{ sequence, instances, random: round.random.fraction, pauseMsMax: 30 },
      }),
    ),
  feed: (round, instances) =>
    run(round, mixed(round, chosen(round, faults, 2)), async (sequence) => {
      const options = { sequence, instances, random: round.random.fraction };
      const trial = { ...options, consumers: 8, requestsBetween: 4 };
      const { rows, wrong } = await endureFeedFaults("postgres", trial);
      return { acknowledged: rows, wrong };
    }),
  webhooks(round, instances) {
    const cutOff =
      "each instance in turn cannot reach the database, while the receiver hangs" as const;
    const rare = [cutOff, "the receiver dies" as const, ...chosen(round, without(sleeps), 2)];
    return run(round, mixed(round, rare), async (sequence) => {
      const options = { sequence, instances, random: round.random.fraction };
      const trial = { ...options, webhooks: 4, requestsBetween: 2 };
      const { rows, wrong } = await endureWebhookFaults("postgres", trial);
      return { acknowledged: rows, wrong };
    });
  },
  limits(round, instances) {
    const rare = chosen(round, without(crashes), 2);
    const sequence = mixed(round, rare).filter((fault) => !crashes.includes(fault));
    return run(round, sequence, (faults) =>
      endureSpending({ sequence: faults, instances, random: round.random.fraction }),
    );
  },
  failover: (round, instances) =>
    run(round, [round.random.pick(failovers)], ([fault]) => failOver(instances, 100, fault!, 30)),
};

/** Most rounds are of the first kinds. */
const kinds = ["updates", "updates", "updates", "retries", "retries", "feed", "webhooks"].concat(
  "limits",
  "failover",
);

/** The numbers of instances, where it is not any: a lease is lost to another instance. */
const sizesOf: Record<string, readonly number[]> = { webhooks: [2, 3], limits: [3] };

async function run<F>(
  round: Round,
  sequence: readonly F[],
  trial: (sequence: readonly F[]) => Promise<Result>,
): Promise<Result> {
  try {
    const result = await trial(sequence);
    round.faults(sequence.length);
    return result;
  } catch (error) {
    throw new Error(`${(error as Error).stack}\nafter some of: ${sequence.join("; ")}`);
  }
}

/** What the checkers call it, and what it is. */
const classes: readonly [RegExp, Wrong][] = [
  [/^lost update|is lost$|: got \d+ of/, "lost"],
  [/^duplicated update|exactly once|was executed/, "doubled"],
  [/^late update|was rejected and is stored/, "late"],
  [/^unasked row|^nobody asked/, "phantom"],
];

export const network: Part = {
  name: "network",
  share: 5,
  async round(round) {
    const kind = round.isShort ? "updates" : round.random.pick(kinds);
    const instances = round.random.pick(sizesOf[kind] ?? [1, 2, 3]);
    const { acknowledged, wrong } = await trials[kind]!(round, instances);
    round.acknowledged(acknowledged);
    for (const what of wrong.slice(0, 10)) {
      const [, found = "wrong"] = classes.find(([pattern]) => pattern.test(what)) ?? [];
      round.fail(found, `${kind}, ${instances} instances: ${what}`);
    }
    if (canMount === false)
      round.figure("disk full", "not tried: only root can mount a small disk");
  },
};
