// Controls the load generator processes: the one in JavaScript, which runs any work and lives as long
// as the benchmark, and the one in C, which is started for each run of PATCH. Reads the server's CPU
// time before and after each run. A wrong response fails the benchmark.
import { join } from "node:path";
import { cpuMicrosecondsBetween, readCpu } from "./cpu.ts";
import type { Job, Report } from "./generator-process.ts";
import { canRunPatchLoad, runPatchLoad } from "./patch-load.ts";
import { type Child, start, stop } from "./processes.ts";
import type { LoadResult } from "./run-scripts.ts";
import type { Contestant } from "./start-server.ts";
import type { Work } from "./work.ts";

export interface Measured extends LoadResult {
  /** Server CPU time per response, in microseconds; undefined without /proc. */
  cpuMicroseconds: number | undefined;
}

export class Generator {
  readonly #patchLoad: string | undefined;
  readonly #child: Child;
  #waiting: PromiseWithResolvers<Report> | undefined;

  /** `patchLoad` is the compiled generator for PATCH. Without it, all load is sent by JavaScript. */
  constructor(patchLoad: string | undefined) {
    this.#patchLoad = patchLoad;
    this.#child = start({
      command: [process.execPath, join(import.meta.dir, "generator-process.ts")],
      onMessage: (message) => this.#waiting?.resolve(message as Report),
    });
    this.#child.exited.then(() =>
      this.#waiting?.reject(new Error(`The load generator ended: ${this.#child.stderrTail()}`)),
    );
  }

  async measure(contestant: Contestant, work: Work, durationMs: number): Promise<Measured> {
    const before = readCpu(contestant.pid);
    const result = await this.#run({ target: contestant.target, work, durationMs }).catch(
      (error: Error) => {
        throw new Error(`${contestant.name}: ${error.message}`);
      },
    );
    const cpu = cpuMicrosecondsBetween(before, readCpu(contestant.pid));
    const responses = result.get.requests + result.patch.requests;
    return { ...result, cpuMicroseconds: cpu === undefined ? undefined : cpu / responses };
  }

  async #run(job: Job): Promise<LoadResult> {
    if (this.#patchLoad !== undefined && canRunPatchLoad(job.work)) {
      return runPatchLoad(this.#patchLoad, job.target, job.work, job.durationMs);
    }
    this.#waiting = Promise.withResolvers();
    this.#child.process.send(job);
    const report = await this.#waiting.promise;
    if ("failure" in report) throw new Error(report.failure);
    return report.result;
  }

  stop(): Promise<void> {
    return stop(this.#child);
  }
}
