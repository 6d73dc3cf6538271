// Everything a run of the benchmark finds out, in the order in which it did.

import { type FigureName, figures, meets } from "./figures.ts";
import type { Measured } from "./generator.ts";

export interface Row {
  scenario: string;
  contestant: string;
  throughput: number;
  p50Ms: number | undefined;
  p99Ms: number | undefined;
  cpuMicroseconds: number | undefined;
  generatorBusy: number | undefined;
}

export interface Reached {
  name: FigureName;
  value: number;
}

/** One measure of this checkout against another one; `noise` is that one against itself. */
export interface Beside {
  scenario: string;
  measure: "CPU µs/answer" | "answers/s";
  old: number;
  fresh: number;
  ratio: number;
  noise: number;
}

export interface Point {
  entries: number;
  cpuMicroseconds: number;
}

export interface Sample {
  seconds: number;
  residentMb: number;
}

export class Book {
  readonly rows: Row[] = [];
  readonly reached: Reached[] = [];
  readonly notes: string[] = [];
  readonly cost: Record<string, Point[]> = {};
  readonly memory: Sample[] = [];
  readonly besides: Beside[] = [];

  row(scenario: string, contestant: string, kind: "get" | "patch", measured: Measured): void {
    this.rows.push({
      scenario,
      contestant,
      throughput: measured[kind].requests / measured.seconds,
      p50Ms: measured[kind].p50Ms,
      p99Ms: measured[kind].p99Ms,
      cpuMicroseconds: measured.cpuMicroseconds,
      generatorBusy: measured.generatorBusy,
    });
  }

  figure(name: FigureName, value: number | undefined): void {
    if (value !== undefined && Number.isFinite(value)) this.reached.push({ name, value });
  }

  beside(
    scenario: string,
    kind: "get" | "patch",
    measured: { old: Measured; fresh: Measured; again: Measured },
  ): void {
    const add = (measure: Beside["measure"], read: (one: Measured) => number | undefined) => {
      const [old, fresh, again] = [measured.old, measured.fresh, measured.again].map(read);
      if (old === undefined || fresh === undefined || again === undefined) return;
      this.besides.push({ scenario, measure, old, fresh, ratio: fresh / old, noise: again / old });
    };
    add("CPU µs/answer", ({ cpuMicroseconds }) => cpuMicroseconds);
    add("answers/s", (one) => one[kind].requests / one.seconds);
  }

  note(text: string): void {
    this.notes.push(text);
    console.error(`· ${text}`);
  }

  point(series: string, entries: number, cpuMicroseconds: number | undefined): void {
    if (cpuMicroseconds === undefined) return;
    this.cost[series] ??= [];
    this.cost[series].push({ entries, cpuMicroseconds });
  }

  missed(): Reached[] {
    return this.reached.filter(
      ({ name, value }) => !meets(figures[name], value, figures[name].hold),
    );
  }
}
