// npm run bench: the service, its peer and the floor, side by side on this machine.
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Bench } from "./bench.ts";
import { Book } from "./book.ts";
import { installPeer } from "./contestants.ts";
import { Generator } from "./generator.ts";
import { describeMachine, isInMemory } from "./machine.ts";
import { type Options, readOptions, type Section, sections } from "./options.ts";
import { drawPlot } from "./plot.ts";
import { printReport, toJson } from "./report.ts";
import { firstGet } from "./sections/first-get.ts";
import { get } from "./sections/get.ts";
import { growth } from "./sections/growth.ts";
import { ledger, soak } from "./sections/long.ts";
import { patch, slowFlush } from "./sections/patch.ts";
import { postgres } from "./sections/postgres.ts";
import { readsUnderWrites } from "./sections/reads-under-writes.ts";
import { buildSlowFlush } from "./slow-flush.ts";

const runs: Record<Section, (bench: Bench) => Promise<void>> = {
  get,
  patch,
  "slow-flush": slowFlush,
  "reads-under-writes": readsUnderWrites,
  "first-get": firstGet,
  growth,
  postgres,
  ledger,
  soak,
};
const withPeer: Section[] = ["get", "patch", "slow-flush", "postgres"];

/** Returns the exit code: 0 when every figure holds, 1 when one is missed. */
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
  if (options.plotDirectory !== undefined) writePlots(book, options.plotDirectory);
  return book.missed().length === 0 ? 0 : 1;
}

function writePlots(book: Book, directory: string): void {
  mkdirSync(directory, { recursive: true });
  const series = Object.entries(book.cost).map(([name, points]) => ({
    name,
    points: points.map(({ entries, cpuMicroseconds }) => ({ x: entries, y: cpuMicroseconds })),
  }));
  if (series.length > 0) {
    const svg = drawPlot({
      title: "Server CPU per request against the size of the catalogue",
      xTitle: "entries",
      yTitle: "µs of CPU per request",
      scale: "logarithmic",
      series,
    });
    writeFileSync(join(directory, "benchmarks.svg"), svg);
  }
  if (book.memory.length > 1) {
    const points = book.memory.map(({ seconds, residentMb }) => ({ x: seconds, y: residentMb }));
    const svg = drawPlot({
      title: "Resident memory under a mixed load",
      xTitle: "seconds",
      yTitle: "MB",
      scale: "linear",
      series: [{ name: "service", points }],
    });
    writeFileSync(join(directory, "benchmarks-memory.svg"), svg);
  }
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
