// npm test: runs the tests of a tier, or the given files, and prints what they cost.
//
//   bun test/run.ts          the quick tier: every *.test.ts but the *.full.test.ts
//   bun test/run.ts --rest   all else: every *.full.test.ts, and the files that use surfaceEngine, on PostgreSQL
//   bun test/run.ts --all    both
//   bun test/run.ts PATH…    these files or folders, whatever their tier, with any flags of bun test
import { chmodSync, mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { memoryFolder } from "./support/memory-folder.ts";
import { startSharedPostgres } from "./support/postgres.ts";
import { type Report, readReport } from "./support/test-report.ts";

const root = resolve(import.meta.dir, "..");
const slowestShown = 10;

/** One call of bun test. */
interface Run {
  readonly words: readonly string[];
  readonly env?: Record<string, string>;
}

const files = [...new Bun.Glob("test/**/*.test.ts").scanSync({ cwd: root })].sort();
const isFull = (file: string) => file.endsWith(".full.test.ts");
/** Such a file runs on the engine that test/support/service.ts names in `surfaceEngine`. */
const choosesEngine = (file: string) =>
  /\bsurfaceEngine\b/.test(readFileSync(join(root, file), "utf8"));

const quick: Run = together(files.filter((file) => !isFull(file)));
const rest: readonly Run[] = [
  together(files.filter(isFull)),
  together(files.filter(choosesEngine), { TEST_ENGINE: "postgres" }),
];
const tiers: Record<string, readonly Run[]> = {
  "": [quick],
  "--rest": rest,
  "--all": [quick, ...rest],
};

/**
 * Runs three files at a time: many tests wait for a server or for a timeout, and not for the processor, but
 * each process loads and compiles everything itself. The files of a process share its modules.
 */
function together(list: readonly string[], env: Record<string, string> = {}): Run {
  const flags = ["--parallel=3", "--no-isolate", "--only-failures"];
  return { words: [...flags, ...list.map((file) => `./${file}`)], env };
}

const words = process.argv.slice(2);
const tier = tiers[words.join(" ")];
/**
 * For the temporary files of all tests, also of those that leave some behind. Endurance tests, which are
 * given by their paths, may need more than the memory has.
 */
const folder = mkdtempSync(join(tier ? memoryFolder() : tmpdir(), "petstore-tests-"));
/** Removes the folder once its input ends, so also after this process was killed. */
const remover = Bun.spawn(
  ["sh", "-c", 'trap "" INT TERM HUP; read -r _; rm -rf "$1"', "", folder],
  {
    stdin: "pipe",
    detached: true,
  },
);
// Servers of PostgreSQL have folders in it, and an account of their own.
chmodSync(folder, 0o711);
// All processes of a tier use one server. A single file starts one if it needs it.
const [server, address] = tier ? await startSharedPostgres() : [];
const shared = address && { TEST_POSTGRES: JSON.stringify(address) };
const reports: Report[] = [];
/** The files that did not load. */
const unread: string[] = [];
let cpuMs = 0;
/** After a signal, no further run begins. */
let isEnded = false;
for (const run of tier ?? [{ words }]) {
  if (!isEnded) process.exitCode = (await runTests(run)) || process.exitCode;
}
await server?.destroy();
remover.stdin.end();
await remover.exited;
const { user, system } = process.cpuUsage();
printCosts((cpuMs + (server?.cpuMs ?? 0) + (user + system) / 1_000) / 1_000);
printCounts();

/** Adds to the reports and to the processor time, and returns the exit code. */
async function runTests({ words, env }: Run): Promise<number> {
  const path = join(folder, `${reports.length}.xml`);
  // The time limit only ends a test that hangs: a busy machine is many times slower than an idle one.
  const flags = ["--timeout", "300000", "--preload", "./test/support/preload.ts"];
  const reporter = ["--reporter=junit", `--reporter-outfile=${path}`];
  const child = Bun.spawn([process.execPath, "test", ...flags, ...reporter, ...words], {
    cwd: root,
    env: { ...process.env, TMPDIR: folder, ...env, ...shared },
    stdio: ["inherit", "inherit", "inherit"],
  });
  const end = (signal: NodeJS.Signals) => {
    isEnded = true;
    child.kill(signal);
  };
  process.on("SIGINT", end).on("SIGTERM", end);
  const code = await child.exited;
  process.off("SIGINT", end).off("SIGTERM", end);
  cpuMs += Number(child.resourceUsage()!.cpuTime.total) / 1_000;
  const report = readReport(path);
  reports.push(report);
  const ran = new Set(report.files.map(({ name }) => `./${name}`));
  unread.push(...words.filter((word) => /^\.\/.*\.test\.ts$/.test(word) && !ran.has(word)));
  return code;
}

function printCosts(cpuSeconds: number): void {
  const all = reports.flatMap((report) => report.files);
  const slowest = all.sort((one, other) => other.seconds - one.seconds).slice(0, slowestShown);
  console.log("\nThe slowest files:");
  for (const { name, seconds } of slowest)
    console.log(`${seconds.toFixed(1).padStart(7)} s  ${name}`);
  const seconds = performance.now() / 1_000;
  console.log(`\n${seconds.toFixed(0)} s, ${cpuSeconds.toFixed(0)} s of processor time`);
}

function printCounts(): void {
  const skipped = reports.flatMap((report) => report.skipped);
  if (skipped.length > 0) console.log("\nSkipped:");
  for (const name of skipped) console.log(`  ${name}`);
  const sum = (count: (report: Report) => number) =>
    reports.reduce((total, report) => total + count(report), 0);
  // None of its tests has run.
  for (const name of unread) console.log(`\nDid not load: ${name}`);
  const failed = sum((report) => report.failed) + unread.length || (process.exitCode ? 1 : 0);
  const passed = sum((report) => report.passed);
  console.log(`\n${passed} passed, ${failed} failed, ${skipped.length} skipped`);
}
