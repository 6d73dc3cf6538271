// Reads the flags of the benchmark into one frozen Options.
import { existsSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { commitOf, looksLikeVersion } from "../scripts/releases.ts";
import {
  type ScenarioName,
  type Section,
  scenarioNames,
  sections,
  selectScenarios,
  selectSections,
} from "./selection.ts";

export interface Options {
  readonly sections: ReadonlySet<Section>;
  readonly quick: boolean;
  /** What to compare this checkout with: the number of a release, or the path of another checkout. */
  readonly beside: string | undefined;
  readonly scenarios: ReadonlySet<ScenarioName>;
  /** Rounds per scenario of --beside; as many as it needs in `besideMs` if undefined. */
  readonly rounds: number | undefined;
  readonly besideMs: number;
  readonly repeats: number;
  readonly runMs: number;
  readonly readers: number;
  readonly writers: number;
  readonly ledgerRows: number;
  readonly rememberedKeys: number;
  readonly soakMs: number;
  readonly openMs: number;
  readonly vacuumMs: number;
  readonly json: string | undefined;
  readonly docsDirectory: string | undefined;
  readonly directory: string;
}

export const usage = `npm run bench -- [flags]
  --only a,b          run only these sections: ${sections.filter((name) => name !== "beside").join(", ")}
                      (ledger, snapshots, history, idempotency, postgres-growth, postgres-vacuum and
                      budget run only when named or with --long; soak only when named or with --soak;
                      open-transaction only when named)
  --engine postgres   run only the section postgres, and with --long those that start with postgres-
  --beside VERSION    compare this checkout with a release, which is installed in dist/releases, or with
                      the checkout in a directory, which must have its node_modules: paired ratios
                      new/old of the CPU time per response and the responses per second
  --beside-minutes N  how long a scenario may take to become precise enough (6)
  --scenario a,b      with --beside: run only these scenarios: ${scenarioNames.join(", ")}
  --quick             use short runs and small catalogues, to check that everything works
  --repeats N         rounds per comparison (6; with --beside as many as needed, 72 or more)
  --seconds N         length of one run (0.8; with --beside 0.3)
  --readers N         connections that read (64)
  --writers N         connections that write (256); the sections postgres, postgres-growth and
                      postgres-vacuum have fixed numbers of connections
  --long              also run the sections ledger, snapshots, history and postgres-growth, with
                      --ledger-rows N rows (10000000), idempotency, with --remembered-keys N keys
                      (10000000), postgres-vacuum and budget
  --soak              run only a mixed load for --minutes N (10), and record the memory
  --open-minutes N    how long open-transaction keeps its transaction open (5)
  --vacuum-minutes N  how long postgres-vacuum sends updates (5)
  --json FILE         write all results to FILE
  --docs DIRECTORY    write the plots to DIRECTORY and the figures, or with --beside the comparison, or
                      with --only budget its table, into its benchmarks.md
  --directory DIR     where the databases are created; this disk is measured (${tmpdir()})

Exit code: 0 if every figure holds and no comparison is beyond its bound, 1 if not, 2 if the run
failed. With --quick, 0 or 2.`;

export function readOptions(argv: string[]): Options {
  const { values } = parseArgs({
    args: argv,
    options: {
      only: { type: "string" },
      engine: { type: "string" },
      quick: { type: "boolean", default: false },
      beside: { type: "string" },
      "beside-minutes": { type: "string", default: "6" },
      scenario: { type: "string" },
      repeats: { type: "string" },
      seconds: { type: "string" },
      readers: { type: "string", default: "64" },
      writers: { type: "string", default: "256" },
      long: { type: "boolean", default: false },
      "ledger-rows": { type: "string", default: "10000000" },
      "remembered-keys": { type: "string", default: "10000000" },
      soak: { type: "boolean", default: false },
      minutes: { type: "string", default: "10" },
      "open-minutes": { type: "string", default: "5" },
      "vacuum-minutes": { type: "string", default: "5" },
      json: { type: "string" },
      docs: { type: "string" },
      directory: { type: "string", default: tmpdir() },
      help: { type: "boolean", default: false },
    },
  });
  if (values.help) {
    console.log(usage);
    process.exit(0);
  }
  const { quick, beside, only, engine, long, soak } = values;
  return Object.freeze({
    sections: selectSections({ only, engine, beside, long, soak }),
    quick,
    beside: beside === undefined ? undefined : releaseOrCheckout(beside),
    scenarios: selectScenarios(values.scenario, beside),
    rounds: values.repeats || quick ? positive("repeats", values.repeats ?? "2") : undefined,
    besideMs: positive("beside-minutes", values["beside-minutes"]) * 60_000,
    repeats: positive("repeats", values.repeats ?? (quick ? "2" : "6")),
    // Paired ratios need many short runs: the shorter a round, the less the machine drifts in it.
    runMs: positive("seconds", values.seconds ?? (beside ? "0.3" : quick ? "0.5" : "0.8")) * 1000,
    readers: positive("readers", values.readers),
    writers: positive("writers", values.writers),
    ledgerRows: positive("ledger-rows", values["ledger-rows"]),
    rememberedKeys: positive("remembered-keys", values["remembered-keys"]),
    soakMs: positive("minutes", values.minutes) * 60_000,
    openMs: positive("open-minutes", values["open-minutes"]) * 60_000,
    vacuumMs: positive("vacuum-minutes", values["vacuum-minutes"]) * 60_000,
    json: values.json,
    docsDirectory: values.docs,
    directory: values.directory,
  });
}

function releaseOrCheckout(text: string): string {
  if (!looksLikeVersion(text)) return checkoutAt(text);
  commitOf(text);
  return text;
}

/** Checks the dependencies too: without them the run would fail half a minute after its start. */
function checkoutAt(directory: string): string {
  const checkout = resolve(directory);
  for (const needed of ["bin/petstore", "node_modules/bun"]) {
    if (!existsSync(join(checkout, needed))) {
      throw new Error(`${directory} has no ${needed}. Run npm ci in a checkout of the project.`);
    }
  }
  return checkout;
}

function positive(flag: string, text: string): number {
  const value = Number(text);
  if (!(value > 0)) throw new Error(`--${flag} must be a number above 0, not ${text}.`);
  return value;
}
