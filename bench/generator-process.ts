// The load generator process: runs the jobs that its parent sends, one at a time, and reports each
// result. It is a separate process so that its CPU time is not counted for a contestant. It lives as
// long as the benchmark, so that its code is warm for every contestant.
import { type LoadResult, runScripts } from "./run-scripts.ts";
import type { Target } from "./scripts.ts";
import { scriptsFor, type Work } from "./work.ts";

export interface Job {
  target: Target;
  work: Work;
  durationMs: number;
}

export type Report = { result: LoadResult } | { failure: string };

async function runJob({ target, work, durationMs }: Job): Promise<Report> {
  try {
    const perSecond = "perSecond" in work ? work.perSecond : undefined;
    return { result: await runScripts(target, scriptsFor(target, work), durationMs, perSecond) };
  } catch (error) {
    return { failure: (error as Error).message };
  }
}

process.on("message", async (job: Job) => {
  process.send!(await runJob(job));
});
process.on("disconnect", () => process.exit(0));
