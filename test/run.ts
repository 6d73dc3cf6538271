// npm test: runs the tests of a tier, or the given files, and prints what they cost.
//
//   bun test/run.ts          the quick tier: every *.test.ts but the *.full.test.ts
//   bun test/run.ts --rest   all else: *.full.test.ts, then on PostgreSQL what the tests above the store ran on SQLite
//   bun test/run.ts --all    both
//   bun test/run.ts PATH…    these files or folders, whatever their tier, with any flags of bun test
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { startSharedPostgres } from "./support/postgres.ts";
import { type Report, readReport } from "./support/test-report.ts";

const root = resolve(import.meta.dir, "..");

/** One call of bun test. */
interface Run {
  readonly words: readonly string[];
  readonly env?: Record<string, string>;
}

const files = [...new Bun.Glob("test/**/*.test.ts").scanSync({ cwd: root })].sort();
const isFull = (file: string) => file.endsWith(".full.test.ts");

/**
 * Three files at a time: many tests wait for a server or for a timeout, and not for the processor, but each
 * process loads and compiles everything itself. The files of a process share its modules and its browser.
 */
const together = ["--parallel=3", "--no-isolate", "--only-failures"];
const runOf = (list: readonly string[], env?: Record<string, string>): Run => ({
  words: [...together, ...list.map((file) => `./${file}`)],
  ...(env && { env }),
});
const quick = () => [runOf(files.filter((file) => !isFull(file)))];
const rest = () => [
  runOf(files.filter(isFull)),
  runOf(files.filter(usesSurfaceEngine), { TEST_ENGINE: "postgres" }),
];
/** Such a file runs on one engine, which `surfaceEngine` in test/support/service.ts chooses. */
const usesSurfaceEngine = (file: string) =>
  /\bsurfaceEngine\b/.test(readFileSync(join(root, file), "utf8"));

const words = process.argv.slice(2);
const tiers: Record<string, () => readonly Run[]> = {
  "": quick,
  "--rest": rest,
  "--all": () => [...quick(), ...rest()],
};
const tier = tiers[words.join(" ")];
process.exitCode = await runAll(tier?.() ?? [{ words }], tier !== undefined);

/** Runs one after the other, also after a failure, and returns the exit code. */
async function runAll(runs: readonly Run[], isTier: boolean): Promise<number> {
  const startedAt = performance.now();
  const folder = mkdtempSync(join(tmpdir(), "petstore-tests-"));
  // All processes of a tier use one server. A single file starts one if it needs it.
  const [server, address] = isTier ? await startSharedPostgres() : [];
  const reports: Report[] = [];
  let cpuMs = 0;
  let failedCode = 0;
  for (const run of runs) {
    const path = join(folder, `${reports.length}.xml`);
    const child = Bun.spawn([process.execPath, "test", ...flags(path), ...run.words], {
      cwd: root,
      env: {
        ...process.env,
        ...run.env,
        ...(address && { TEST_POSTGRES: JSON.stringify(address) }),
      },
      stdio: ["inherit", "inherit", "inherit"],
    });
    failedCode = (await child.exited) || failedCode;
    cpuMs += Number(child.resourceUsage()!.cpuTime.total) / 1_000;
    reports.push(readReport(path));
  }
  await server?.destroy();
  cpuMs += server?.cpuMs ?? 0;
  rmSync(folder, { recursive: true });
  cpuMs += (process.cpuUsage().user + process.cpuUsage().system) / 1_000;
  print(reports, (performance.now() - startedAt) / 1_000, cpuMs / 1_000, failedCode);
  return failedCode;
}

/** The time limit only ends a test that hangs: a busy machine is many times slower than an idle one. */
function flags(reportPath: string): string[] {
  const report = ["--reporter=junit", `--reporter-outfile=${reportPath}`];
  return ["--preload", "./test/support/awake.ts", "--timeout", "300000", ...report];
}

function print(reports: readonly Report[], seconds: number, cpuSeconds: number, code: number) {
  const slowest = reports
    .flatMap((report) => report.files)
    .sort((one, other) => other.seconds - one.seconds);
  console.log("\nThe slowest files:");
  for (const file of slowest.slice(0, 10)) {
    console.log(`${file.seconds.toFixed(1).padStart(7)} s  ${file.name}`);
  }
  const skipped = reports.flatMap((report) => report.skipped);
  if (skipped.length > 0) console.log("\nSkipped:");
  for (const name of skipped) console.log(`  ${name}`);
  const sum = (value: (report: Report) => number) =>
    reports.reduce((total, report) => total + value(report), 0);
  const [passed, failed] = [sum((report) => report.passed), sum((report) => report.failed)];
  console.log(`\n${seconds.toFixed(0)} s, ${cpuSeconds.toFixed(0)} s of processor time`);
  // A process that crashed has failed, although no test of it has.
  console.log(
    `${passed} passed, ${failed || Number(code !== 0)} failed, ${skipped.length} skipped`,
  );
}
