import type { Attention } from "../../domain/operations/attention.ts";
import type { EngineFact } from "../../domain/operations/inspection.ts";
import type { MaybePromise } from "../../domain/running/clock.ts";
import { formatInstant } from "../../domain/values/times.ts";

export type Finding = EngineFact;

/**
 * What a check found. Advice says what to do about a warning or a problem. The name is that of the check
 * unless given.
 */
export type Found = Omit<Finding, "name"> & { readonly name?: string };

export function ok(found: string): Found {
  return { result: "ok", found };
}

export function warning(found: string, advice: string): Found {
  return { result: "warning", found, advice };
}

export function problem(found: string, advice: string): Found {
  return { result: "problem", found, advice };
}

/** What needs attention, with advice, and one line for each subject that needs none. */
export function judged<Subject extends string>(
  attention: Iterable<Attention<Subject>>,
  words: Readonly<Record<Subject, readonly [fine: string, advice: string]>>,
): readonly Found[] {
  const all = [...attention];
  return Object.entries<readonly [string, string]>(words).flatMap(([name, [fine, advice]]) => {
    const found = all.filter(({ subject }) => subject === name);
    if (found.length === 0) return { name, ...ok(fine) };
    const textOf = ({ text, ids }: Attention) =>
      text + (ids.length > 0 ? ` ID: ${listed(ids)}` : "");
    return found.map((one) => ({ name, result: one.severity, found: textOf(one), advice }));
  });
}

/** One check: its name, what to do if it fails, and its work. */
export type Check = readonly [
  name: string,
  advice: string,
  work: () => MaybePromise<Found | readonly Found[]>,
];

/** Runs one check. A check that fails is a problem itself, and the other checks still run. */
export async function runCheck([name, advice, work]: Check): Promise<readonly Finding[]> {
  try {
    return [await work()].flat().map((found) => ({ name, ...found }));
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return [{ name, ...problem(reason.split("\n")[0]!, advice) }];
  }
}

/** Runs checks that do not disturb each other, at the same time. */
export async function runChecks(checks: readonly Check[]): Promise<readonly Finding[]> {
  return (await Promise.all(checks.map(runCheck))).flat();
}

/** Up to five names, and how many there are besides. */
export function listed(names: readonly string[]): string {
  const shown = names.slice(0, 5).join(", ");
  return names.length > 5 ? `${shown} and ${names.length - 5} more` : shown;
}

export function day(time: number): string {
  return formatInstant(time).slice(0, 10);
}

export function formatAge(ms: number): string {
  const minutes = Math.floor(ms / 60_000);
  if (minutes < 120) return `${Math.max(0, minutes)} minutes`;
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? `${hours} hours` : `${Math.floor(hours / 24)} days`;
}

/** The thresholds that only these checks have. */
export const defaultBounds = {
  /** Free space below this is a problem, whatever the size of the store. */
  diskBytesMin: 256 * 1024 * 1024,
  inodesMin: 1_000,
  /** The median of several flushes to disk. Every update waits for one. */
  flushMsMax: 20,
  /** The difference from the clock of the database server, or from a time in the store. */
  clockMsMax: 2_000,
  /** Files and connections besides the streams of the feed. */
  descriptorsBesideStreams: 1_000,
  /** The deadline of all checks that use the database. */
  databaseMs: 6_000,
  /** The deadline of the check of the continuous copy. */
  replicaMs: 6_000,
};

export type Bounds = typeof defaultBounds;
