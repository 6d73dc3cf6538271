// npm run survive: breaks the service in many ways, and counts what it lost and what it did wrong.
import { randomInt } from "node:crypto";
import { cpus } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { checkoutOf } from "../scripts/release-checkout.ts";
import { packageVersion } from "../src/version.ts";
import { type Part, type PartName, partNames, wrongs } from "./part.ts";
import { type PartRun, runPart, type Tally } from "./run.ts";

const usage = `npm run survive -- [flags]
  --minutes N   how long the whole run takes (60)
  --seed S      the seed of the first round of every part; the next rounds have S+1, S+2 ... (random)
  --only a,b    run only these parts: ${partNames.join(", ")}
                (mutation runs only when named)
  --rounds N    end each part after N rounds
  --release V   break this release instead, which is installed in dist/releases
                and must have the same schema

Exit code: 0 if nothing was wrong, 1 if something was, 2 if the run could not start.`;

interface Result {
  readonly part: Part;
  readonly tally?: Tally;
  /** Why the part did not run. */
  readonly problem?: string;
}

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      minutes: { type: "string", default: "60" },
      seed: { type: "string" },
      only: { type: "string" },
      rounds: { type: "string" },
      release: { type: "string" },
      help: { type: "boolean", default: false },
    },
  });
  if (values.help) {
    console.log(usage);
    return 0;
  }
  const minutes = numberIn("minutes", values.minutes, 0.1, 10_000);
  const seed =
    values.seed === undefined ? randomInt(2 ** 32) : numberIn("seed", values.seed, 0, 2 ** 32 - 1);
  const rounds =
    values.rounds === undefined ? undefined : numberIn("rounds", values.rounds, 1, 1_000_000);
  if (values.release !== undefined)
    process.env.SURVIVE_PROGRAM = join(await checkoutOf(values.release), "bin/petstore");
  // After that, because the parts read it when they are loaded.
  const { parts } = await import("./parts.ts");
  const chosen = selectParts(parts, values.only);
  const names = chosen.map(({ name }) => name).join(", ");
  console.log(
    `${values.release ?? packageVersion()}, ${machine()}. Seed ${seed}. ${names}: ${minutes} minutes.`,
  );
  const shares = chosen.reduce((sum, part) => sum + (part.share || 1), 0);
  const results: Result[] = [];
  for (const part of chosen) {
    const ms = (minutes * 60_000 * (part.share || 1)) / shares;
    results.push(await runOne(part, { seed, ms, rounds }, values.release));
  }
  return report(results);
}

function machine(): string {
  return `${cpus().length} × ${cpus()[0]?.model}, ${process.platform}, Bun ${Bun.version}`;
}

function selectParts(parts: readonly Part[], only: string | undefined): readonly Part[] {
  if (only === undefined) return parts.filter(({ share }) => share > 0);
  return only.split(",").map((name) => {
    const part = parts.find((one) => one.name === name);
    if (!part) throw new Error(`There is no part ${name}. Use ${partNames.join(", ")}.`);
    return part;
  });
}

function numberIn(flag: string, text: string, min: number, max: number): number {
  const value = Number(text);
  if (text.trim() !== "" && value >= min && value <= max) return value;
  throw new Error(`--${flag} must be a number from ${min} to ${max}, not ${text}.`);
}

async function runOne(part: Part, run: PartRun, release?: string): Promise<Result> {
  const problem = await part.findProblem?.();
  if (problem !== undefined) {
    console.log(`${part.name}: not run: ${problem}`);
    return { part, problem };
  }
  let shownAt = 0;
  let shownFailures = 0;
  const tally = await runPart(part, run, (now, leftMs) => {
    // One fault can make every answer of a round wrong.
    for (const { seed: failed, wrong, what } of now.failures.slice(shownFailures).slice(0, 5)) {
      console.log(`${part.name}: ${wrong.toUpperCase()}: ${what}`);
      console.log(`  Repeat it: ${commandFor(part.name, { ...run, seed: failed }, release)}`);
    }
    shownFailures = now.failures.length;
    if (performance.now() - shownAt < 10_000 && leftMs > 0) return;
    shownAt = performance.now();
    console.log(`${part.name}: ${lineOf(now)}, ${Math.round(leftMs / 1000)} s left`);
  });
  return { part, tally };
}

/** One round, with as much time as it had: some use all of it. */
function commandFor(name: PartName, { seed, ms }: PartRun, release: string | undefined): string {
  const minutes = Math.max(0.1, Math.round(ms / 6_000) / 10);
  const words = `npm run survive -- --only ${name} --seed ${seed} --rounds 1 --minutes ${minutes}`;
  return release === undefined ? words : `${words} --release ${release}`;
}

function lineOf({ rounds, faults, acknowledged, failures }: Tally): string {
  return `${rounds} rounds, ${faults} faults, ${acknowledged} acknowledged, ${failures.length} wrong`;
}

/** Prints the table. Returns the exit code. */
function report(results: readonly Result[]): number {
  const rows = results.map(({ part, tally, problem }) =>
    tally
      ? [
          part.name,
          tally.rounds,
          tally.faults,
          tally.acknowledged,
          ...wrongs.map((wrong) => tally.failures.filter((one) => one.wrong === wrong).length),
        ]
      : [part.name, `not run: ${problem}`],
  );
  const header = ["part", "rounds", "faults", "acknowledged", ...wrongs];
  console.log(`\n| ${header.join(" | ")} |\n|${" --- |".repeat(header.length)}`);
  for (const row of rows) console.log(`| ${row.join(" | ")} |`);
  for (const { part, tally } of results) {
    for (const [name, value] of tally?.figures ?? [])
      console.log(`${part.name}: ${name}: ${value}`);
  }
  if (results.every(({ tally }) => !tally)) return 2;
  return results.some(({ tally }) => tally && tally.failures.length > 0) ? 1 : 0;
}

try {
  process.exitCode = await main();
} catch (error) {
  console.error((error as Error).message);
  process.exitCode = 2;
}
