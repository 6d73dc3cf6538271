// Controls the load generator process: sends it jobs, and reads the server's CPU time before and
// after each. A wrong response fails the benchmark.
import { join } from "node:path";
import { cpuMicrosecondsBetween, readCpu } from "./cpu.ts";
import type { Job, Report } from "./generator-process.ts";
import { type Child, start, stop } from "./processes.ts";
import type { LoadResult } from "./run-scripts.ts";
import type { Contestant } from "./start-server.ts";
import type { Work } from "./work.ts";

export interface Measured extends LoadResult {
  /** Server CPU time per response, in microseconds; undefined without /proc. */
  cpuMicroseconds: number | undefined;
}

export class Generator {
  readonly #child: Child;
  #waiting: PromiseWithResolvers<Report> | undefined;

  constructor() {
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
    this.#waiting = Promise.withResolvers();
    this.#child.process.send({ target: contestant.target, work, durationMs } satisfies Job);
    const report = await this.#waiting.promise;
    if ("failure" in report) throw new Error(`${contestant.name}: ${report.failure}`);
    const { result } = report;
    const cpu = cpuMicrosecondsBetween(before, readCpu(contestant.pid));
    const responses = result.get.requests + result.patch.requests;
    return { ...result, cpuMicroseconds: cpu === undefined ? undefined : cpu / responses };
  }

  stop(): Promise<void> {
    return stop(this.#child);
  }
}
