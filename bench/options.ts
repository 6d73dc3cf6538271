// Flags of the benchmark → one frozen Options.
import { existsSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";

export const sections = [
  "get",
  "patch",
  "slow-flush",
  "reads-under-writes",
  "first-get",
  "growth",
  "turns",
  "postgres",
  "open-transaction",
  "ledger",
  "soak",
  "beside",
] as const;
export type Section = (typeof sections)[number];

export interface Options {
  readonly only: ReadonlySet<Section>;
  readonly quick: boolean;
  /** Another checkout of the project to compare this one with. */
  readonly beside: string | undefined;
  readonly repeats: number;
  readonly runMs: number;
  readonly readers: number;
  readonly writers: number;
  readonly ledgerRows: number;
  readonly soakMs: number;
  readonly openMs: number;
  readonly json: string | undefined;
  readonly docsDirectory: string | undefined;
  readonly directory: string;
}

export const usage = `npm run bench -- [flags]
  --only a,b          sections: ${sections.join(", ")}
                      (ledger, soak and open-transaction run only when named, or by --long and --soak)
  --engine postgres   only the PostgreSQL section
  --beside DIR        this checkout beside the one in DIR (with its node_modules), nothing else:
                      the ratio new/old in CPU per answer and in answers per second
  --quick             short runs and small catalogues: to see that everything works
  --repeats N         rounds per comparison, the best counts (6; with --beside 9)
  --seconds N         length of one run (0.8)
  --readers N         connections that read (64)
  --writers N         connections that write (256)
  --long              also the ledger of --ledger-rows N rows (10000000)
  --soak              a mixed load for --minutes N (10) and its memory curve, nothing else
  --open-minutes N    how long open-transaction keeps its transaction open (5)
  --json FILE         write every figure
  --docs DIRECTORY    write the plots there and the figures into its benchmarks.md
  --directory DIR     where the databases live; its disk is the disk measured (${tmpdir()})`;

export function readOptions(argv: string[]): Options {
  const { values } = parseArgs({
    args: argv,
    options: {
      only: { type: "string" },
      engine: { type: "string" },
      quick: { type: "boolean", default: false },
      beside: { type: "string" },
      repeats: { type: "string" },
      seconds: { type: "string" },
      readers: { type: "string", default: "64" },
      writers: { type: "string", default: "256" },
      long: { type: "boolean", default: false },
      "ledger-rows": { type: "string", default: "10000000" },
      soak: { type: "boolean", default: false },
      minutes: { type: "string", default: "10" },
      "open-minutes": { type: "string", default: "5" },
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
  return Object.freeze({
    only: values.beside
      ? new Set(["beside"] as const)
      : chosenSections(values.only, values.engine, values.long, values.soak),
    quick: values.quick,
    beside: values.beside === undefined ? undefined : checkoutAt(values.beside),
    // Differences of a few percent want more rounds, and as many that each of the three begins.
    repeats: positive(
      "repeats",
      values.repeats ?? (values.quick ? "2" : values.beside ? "9" : "6"),
    ),
    runMs: positive("seconds", values.seconds ?? (values.quick ? "0.5" : "0.8")) * 1000,
    readers: positive("readers", values.readers),
    writers: positive("writers", values.writers),
    ledgerRows: positive("ledger-rows", values["ledger-rows"]),
    soakMs: positive("minutes", values.minutes) * 60_000,
    openMs: positive("open-minutes", values["open-minutes"]) * 60_000,
    json: values.json,
    docsDirectory: values.docs,
    directory: values.directory,
  });
}

function chosenSections(
  only: string | undefined,
  engine: string | undefined,
  long: boolean,
  soak: boolean,
): Set<Section> {
  if (only !== undefined) return new Set(only.split(",").map(sectionNamed));
  if (soak) return new Set(["soak"]);
  if (engine !== undefined && engine !== "sqlite" && engine !== "postgres") {
    throw new Error(`--engine is sqlite or postgres, not ${engine}.`);
  }
  if (engine === "postgres") return new Set(["postgres"]);
  const chosen = new Set<Section>(sections);
  chosen.delete("soak");
  chosen.delete("open-transaction");
  chosen.delete("beside");
  if (!long) chosen.delete("ledger");
  if (engine === "sqlite") chosen.delete("postgres");
  return chosen;
}

function sectionNamed(name: string): Section {
  const found = sections.find((section) => section === name);
  if (found === undefined)
    throw new Error(`There is no section ${name}; there are ${sections.join(", ")}.`);
  if (found === "beside") throw new Error("The section beside is run by --beside DIR.");
  return found;
}

/** The checkout with its dependencies: without them it would fail half a minute into the run. */
function checkoutAt(directory: string): string {
  const checkout = resolve(directory);
  for (const needed of ["bin/petstore", "node_modules/bun"]) {
    if (!existsSync(join(checkout, needed))) {
      throw new Error(`${directory} has no ${needed}; run npm ci in a checkout of the project.`);
    }
  }
  return checkout;
}

function positive(flag: string, text: string): number {
  const value = Number(text);
  if (!(value > 0)) throw new Error(`--${flag} takes a number above 0, not ${text}.`);
  return value;
}
