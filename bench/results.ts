// The results of a run, in the order in which they were measured.
import type { Comparison } from "./comparison.ts";
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

export interface MeasuredFigure {
  name: FigureName;
  value: number;
}

export interface Point {
  entries: number;
  cpuMicroseconds: number;
}

export interface MemorySample {
  seconds: number;
  residentMb: number;
}

/** Measurements that are neither rates nor latencies. All rows have the same columns. */
export interface DataTable {
  title: string;
  rows: Record<string, number | string>[];
}

export class Results {
  readonly rows: Row[] = [];
  readonly figures: MeasuredFigure[] = [];
  readonly comparisons: Comparison[] = [];
  /** The version that --beside compares with. */
  oldVersion: string | undefined;
  readonly tables: DataTable[] = [];
  readonly notes: string[] = [];
  /** CPU time by size of the catalogue, for each line of the plot. */
  readonly cost: Record<string, Point[]> = {};
  readonly memory: MemorySample[] = [];

  addRow(scenario: string, contestant: string, kind: "get" | "patch", measured: Measured): void {
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

  /** Adds a row for work that was not sent to a server: one call after the other. */
  addTime(scenario: string, contestant: string, ms: number): void {
    this.rows.push({
      scenario,
      contestant,
      throughput: 1000 / ms,
      p50Ms: ms,
      p99Ms: undefined,
      cpuMicroseconds: undefined,
      generatorBusy: undefined,
    });
  }

  /** Adds a row for a program that reports only its rate. */
  addRate(scenario: string, contestant: string, throughput: number): void {
    const unknown = { p50Ms: undefined, p99Ms: undefined, cpuMicroseconds: undefined };
    this.rows.push({ scenario, contestant, throughput, ...unknown, generatorBusy: undefined });
  }

  /** Ignores an undefined value: the figure could not be measured on this machine. */
  addFigure(name: FigureName, value: number | undefined): void {
    if (value !== undefined && Number.isFinite(value)) this.figures.push({ name, value });
  }

  addNote(text: string): void {
    this.notes.push(text);
    console.error(`· ${text}`);
  }

  addPoint(line: string, entries: number, cpuMicroseconds: number | undefined): void {
    if (cpuMicroseconds === undefined) return;
    this.cost[line] ??= [];
    this.cost[line].push({ entries, cpuMicroseconds });
  }

  /** Whether every figure holds and no comparison is beyond its bound. */
  get areAcceptable(): boolean {
    return (
      this.figures.every(({ name, value }) => meets(figures[name], value, figures[name].hold)) &&
      this.comparisons.every(({ result }) => result !== "beyond")
    );
  }
}
