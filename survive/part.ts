import type { Random } from "./random.ts";

export const partNames = [
  "power",
  "disk",
  "clock",
  "crash",
  "network",
  "simulation",
  "overload",
  "soak",
  "mutation",
] as const;

export type PartName = (typeof partNames)[number];

/** What a service can do wrong. */
export const wrongs = ["lost", "doubled", "late", "phantom", "wrong"] as const;
export type Wrong = (typeof wrongs)[number];

/** One way to break the service. It is tried in rounds, each with a seed of its own. */
export interface Part {
  readonly name: PartName;
  /** Its share of the time of a full run. Parts without a share run only when named. */
  readonly share: number;
  /** How many rounds a run has, however long they take. Otherwise it has as many as the time allows. */
  readonly rounds?: number;
  /** Why it cannot run on this machine; undefined if it can. */
  findProblem?(): Promise<string | undefined>;
  round(round: Round): Promise<void>;
}

export interface Round {
  readonly seed: number;
  readonly random: Random;
  /** An empty folder, deleted afterwards. */
  readonly folder: string;
  /** When the time of the part is over, by `performance.now()`. A round of minutes ends then. */
  readonly endsAt: number;
  /** True in the test suite: a round takes a few seconds at most. */
  readonly isShort: boolean;
  /** Counts faults that were injected. */
  faults(count: number): void;
  /** Counts operations that the service has acknowledged. */
  acknowledged(count: number): void;
  /** Records something that the service did wrong. The round may go on. */
  fail(wrong: Wrong, what: string): void;
  /** A figure that is not a count, for the report. A later one with the same name replaces it. */
  figure(name: string, value: string): void;
}
