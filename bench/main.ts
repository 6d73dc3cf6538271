// npm run bench: the service, its peer and the floor, side by side on this machine.
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Bench } from "./bench.ts";
import { Book } from "./book.ts";
import { writeDocuments } from "./documents.ts";
import { Generator } from "./generator.ts";
import { installPeer } from "./install.ts";
import { describeMachine, isInMemory } from "./machine.ts";
import { type Options, readOptions, type Section, sections } from "./options.ts";
import { printReport, toJson } from "./report.ts";
import { beside } from "./sections/beside.ts";
import { firstGet } from "./sections/first-get.ts";
import { get } from "./sections/get.ts";
import { growth } from "./sections/growth.ts";
import { ledger, soak } from "./sections/long.ts";
import { openTransaction } from "./sections/open-transaction.ts";
import { patch, slowFlush } from "./sections/patch.ts";
import { postgres } from "./sections/postgres.ts";
import { readsUnderWrites } from "./sections/reads-under-writes.ts";
import { turns } from "./sections/turns.ts";
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
  "open-transaction": openTransaction,
  ledger,
  soak,
  beside,
};
const withPeer: Section[] = ["get", "patch", "slow-flush", "postgres"];

/** Returns the exit code: 0 when every figure holds, 1 when one is missed; 2 is a failed run. */
async function main(options: Options, directory: string): Promise<number> {
  const book = new Book();
  if (isInMemory(directory)) {
    book.note(`${directory} is in memory: flushes are free there; see --directory.`);
  }
  const machine = await describeMachine(directory);
  const needsPeer = withPeer.some((section) => options.only.has(section));
  const peerProblem = needsPeer ? await installPeer() : undefined;
  if (peerProblem !== undefined) book.note(`There is no peer to compare with: ${peerProblem}`);
  const generator = new Generator();
  const bench: Bench = {
    options,
    generator,
    book,
    directory,
    peerProblem,
    slowFlush: await buildSlowFlush(directory),
  };
  for (const section of sections) {
    if (!options.only.has(section)) continue;
    console.error(`${section} …`);
    await runs[section](bench);
  }
  await generator.stop();
  printReport(book, machine);
  if (options.json !== undefined) writeFileSync(options.json, toJson(book, machine));
  if (options.docsDirectory !== undefined) writeDocuments(book, machine, options.docsDirectory);
  // A quick run is too short to judge by; only a wrong answer fails it.
  return options.quick || book.missed().length === 0 ? 0 : 1;
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
  // PostgreSQL may have to run as another user, who must be able to get here.
  chmodSync(directory, 0o755);
  code = await main(options, directory);
} catch (error) {
  console.error(`bench: ${(error as Error).message}`);
}
// Children are ended by the exit handler of processes.ts whichever way it went.
process.exit(code);
