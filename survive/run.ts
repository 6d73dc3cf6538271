import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Part, Round, Wrong } from "./part.ts";
import { createRandom } from "./random.ts";

/** What the rounds of a part have counted. */
export interface Tally {
  rounds: number;
  faults: number;
  acknowledged: number;
  readonly failures: Failure[];
  readonly figures: Map<string, string>;
}

interface Failure {
  readonly seed: number;
  readonly wrong: Wrong;
  readonly what: string;
}

export function createTally(): Tally {
  return { rounds: 0, faults: 0, acknowledged: 0, failures: [], figures: new Map() };
}

/** An exception in a round is a wrong answer too: no part expects one. */
export async function runRound(
  part: Part,
  seed: number,
  { tally, endsAt, isShort }: { tally: Tally } & Pick<Round, "endsAt" | "isShort">,
): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), `petstore-survive-${part.name}-`));
  const fail = (wrong: Wrong, what: string) => void tally.failures.push({ seed, wrong, what });
  try {
    await part.round({
      seed,
      random: createRandom(seed),
      folder,
      endsAt,
      isShort,
      faults(count) {
        tally.faults += count;
      },
      acknowledged(count) {
        tally.acknowledged += count;
      },
      fail,
      figure: (name, value) => void tally.figures.set(name, value),
    });
  } catch (error) {
    fail("wrong", error instanceof Error ? (error.stack ?? error.message) : String(error));
  } finally {
    tally.rounds += 1;
    try {
      rmSync(folder, { recursive: true, force: true });
    } catch (error) {
      fail("wrong", `the folder of the round is still in use: ${error}`);
    }
  }
}

export interface PartRun {
  /** The seed of the first round. The next ones have the seeds that follow it. */
  readonly seed: number;
  readonly ms: number;
  /** The number of rounds. Unless given, as many as the part has, or until the time is over. */
  readonly rounds: number | undefined;
}

/** Runs rounds. `onProgress` is called after each round and every ten seconds. */
export async function runPart(
  part: Part,
  { seed, ms, rounds = part.rounds }: PartRun,
  onProgress: (tally: Tally, leftMs: number) => void,
): Promise<Tally> {
  const tally = createTally();
  const endsAt = performance.now() + ms;
  const report = () => onProgress(tally, Math.max(0, endsAt - performance.now()));
  const timer = setInterval(report, 10_000);
  try {
    do {
      await runRound(part, (seed + tally.rounds) >>> 0, { tally, endsAt, isShort: false });
      report();
    } while (rounds ? tally.rounds < rounds : performance.now() < endsAt);
  } finally {
    clearInterval(timer);
  }
  return tally;
}
