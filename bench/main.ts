// npm run bench: measures the service, the peer and the floor on this machine.
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Bench } from "./bench.ts";
import { writeBlock, writePlots } from "./docs.ts";
import { Generator } from "./generator.ts";
import { installPeer } from "./install-peer.ts";
import { describeMachine, isInMemory, type Machine } from "./machine.ts";
import { type Options, readOptions } from "./options.ts";
import { buildPatchLoad } from "./patch-load.ts";
import {
  budgetToMarkdown,
  comparisonsToMarkdown,
  printReport,
  toJson,
  toMarkdown,
} from "./report.ts";
import { Results } from "./results.ts";
import { batch } from "./sections/batch.ts";
import { beside } from "./sections/beside.ts";
import { budget } from "./sections/budget.ts";
import { feed } from "./sections/feed.ts";
import { firstGet } from "./sections/first-get.ts";
import { get } from "./sections/get.ts";
import { growth } from "./sections/growth.ts";
import { history } from "./sections/history.ts";
import { idempotency } from "./sections/idempotency.ts";
import { ledger } from "./sections/ledger.ts";
import { monitoring } from "./sections/monitoring.ts";
import { openTransaction } from "./sections/open-transaction.ts";
import { patch, slowFlush } from "./sections/patch.ts";
import { postgres } from "./sections/postgres.ts";
import { postgresGrowth } from "./sections/postgres-growth.ts";
import { postgresVacuum } from "./sections/postgres-vacuum.ts";
import { readsUnderWrites } from "./sections/reads-under-writes.ts";
import { snapshots } from "./sections/snapshots.ts";
import { soak } from "./sections/soak.ts";
import { turns } from "./sections/turns.ts";
import { webhooks } from "./sections/webhooks.ts";
import { type Section, sections } from "./selection.ts";
import { buildSlowFlush } from "./slow-flush.ts";

const runs: Record<Section, (bench: Bench) => Promise<void>> = {
  get,
  patch,
  "slow-flush": slowFlush,
  "reads-under-writes": readsUnderWrites,
  "first-get": firstGet,
  growth,
  turns,
  postgres,
  "postgres-growth": postgresGrowth,
  "postgres-vacuum": postgresVacuum,
  batch,
  feed,
  webhooks,
  monitoring,
  "open-transaction": openTransaction,
  ledger,
  history,
  idempotency,
  snapshots,
  budget,
  soak,
  beside,
};
const sectionsWithPeer: Section[] = ["get", "patch", "slow-flush", "postgres", "batch"];

/** Returns the exit code: 0 or 1, see the usage in options.ts. */
async function main(options: Options, directory: string): Promise<number> {
  const results = new Results();
  if (isInMemory(directory)) {
    results.addNote(
      `${directory} is in memory, so flushes cost nothing. Use --directory for a disk.`,
    );
  }
  const machine = await describeMachine(directory);
  const needsPeer = sectionsWithPeer.some((section) => options.sections.has(section));
  const peerProblem = needsPeer ? await installPeer() : undefined;
  if (peerProblem !== undefined) results.addNote(`The peer cannot run: ${peerProblem}`);
  const patchLoad = await buildPatchLoad(directory);
  if ("problem" in patchLoad) {
    results.addNote(
      `PATCH was sent by the generator in JavaScript. The faster one in C cannot run: ${patchLoad.problem}`,
    );
  }
  const program = "program" in patchLoad ? patchLoad.program : undefined;
  const generator = new Generator(program);
  const bench: Bench = {
    options,
    generator,
    patchLoad: program,
    results,
    directory,
    peerProblem,
    slowFlush: await buildSlowFlush(directory),
  };
  for (const section of sections) {
    if (!options.sections.has(section)) continue;
    console.error(`${section} …`);
    await runs[section](bench);
  }
  await generator.stop();
  printReport(results, machine);
  if (options.json !== undefined) writeFileSync(options.json, toJson(results, machine));
  writeDocs(options, results, machine);
  // A quick run is too short for a judgement. Only a wrong response fails it.
  return options.quick || results.areAcceptable ? 0 : 1;
}

function writeDocs(options: Options, results: Results, machine: Machine): void {
  const { docsDirectory, beside } = options;
  if (docsDirectory === undefined) return;
  writePlots(results, docsDirectory);
  const isBudget = options.sections.has("budget") && options.sections.size === 1;
  const [block, content] = isBudget
    ? (["budget", budgetToMarkdown] as const)
    : beside === undefined
      ? (["figures", toMarkdown] as const)
      : (["comparison", comparisonsToMarkdown] as const);
  writeBlock(block, content(results, machine), docsDirectory);
}

let directory: string | undefined;
let code = 2;
for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => process.exit(130));
process.on("exit", () => {
  if (directory !== undefined) rmSync(directory, { recursive: true, force: true });
});
try {
  const options = readOptions(process.argv.slice(2));
  directory = mkdtempSync(join(options.directory, "petstore-bench-"));
  // PostgreSQL may run as another user, who needs access to this directory.
  chmodSync(directory, 0o755);
  code = await main(options, directory);
} catch (error) {
  console.error(`bench: ${(error as Error).message}`);
}
// The exit handler of processes.ts ends all children.
process.exit(code);
