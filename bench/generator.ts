// The benchmark's end of the load generator: sends plans, reads the server's processor time around
// each, and turns a wrong answer into a failed benchmark.
import { join } from "node:path";
import type { Contestant } from "./contestants.ts";
import type { Outcome } from "./drive.ts";
import type { Plan, Report, Work } from "./load.ts";
import { type Child, cpuSeconds, start, stop } from "./processes.ts";

export interface Measured extends Outcome {
  /** Server processor time per answer, in microseconds; undefined where the system does not tell. */
  cpuMicroseconds: number | undefined;
}

export class Generator {
  readonly #child: Child;
  #waiting: PromiseWithResolvers<Report> | undefined;

  constructor() {
    this.#child = start({
      command: [process.execPath, join(import.meta.dir, "load.ts")],
      onMessage: (message) => this.#waiting?.resolve(message as Report),
    });
    this.#child.exited.then(() =>
      this.#waiting?.reject(new Error(`The load generator ended: ${this.#child.lastWords()}`)),
    );
  }

  async measure(contestant: Contestant, work: Work, durationMs: number): Promise<Measured> {
    const before = cpuSeconds(contestant.pid);
    this.#waiting = Promise.withResolvers();
    this.#child.process.send({ target: contestant.target, work, durationMs } satisfies Plan);
    const report = await this.#waiting.promise;
    if ("failure" in report) throw new Error(`${contestant.name}: ${report.failure}`);
    const after = cpuSeconds(contestant.pid);
    const answers = report.outcome.get.requests + report.outcome.patch.requests;
    return {
      ...report.outcome,
      cpuMicroseconds:
        before === undefined || after === undefined
          ? undefined
          : ((after - before) * 1e6) / answers,
    };
  }

  stop(): Promise<void> {
    return stop(this.#child);
  }
}
