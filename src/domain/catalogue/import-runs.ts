import type { Actor } from "../audit/audit.ts";
import { exactInteger } from "../values/json.ts";
import type { FoundColumn, ImportDifference, Imported } from "./import-preview.ts";
import type { Problem } from "./import-problems.ts";
import type { Selection, TogetherOptions, Undone } from "./undo-together.ts";

/** An import that the service makes for an operator. */
export interface ImportRun {
  readonly what: "pets" | "orders";
  readonly format: string;
  /** How to read a table: the delimiter, and lines of `HEADER=FIELD`. */
  readonly delimiter: string | undefined;
  readonly map: string | undefined;
  /** Shows what would change, and changes nothing. */
  readonly isDryRun: boolean;
  /** What the ledger and the audit log call the file. */
  readonly name: string;
  readonly actor: Actor;
}

export type ImportOutcome =
  | {
      readonly kind: "imported";
      readonly counts: Imported;
      /** Only of a dry run: how many there are, and the first of them. */
      readonly differences: Differences | undefined;
      /** Only of a dry run. */
      readonly columns: readonly FoundColumn[];
    }
  | {
      /** Nothing was imported. The first problems, and how many there are. */
      readonly kind: "rejected";
      readonly problems: readonly Problem[];
      readonly total: number;
      readonly columns: readonly FoundColumn[];
    };

export interface Differences {
  readonly total: number;
  readonly rows: readonly ImportDifference[];
}

/** An undo of many changes that the service makes for an operator, or for an assistant. */
export type UndoRun = Selection & TogetherOptions;

/** How many differences a dry run lists. */
export const differencesListedMax = 1_000;

/** Their length as JSON. A list of tags may be long. */
const listedCharactersMax = 1_000_000;

/** Counts differences, and keeps the first of them. */
export function createDifferenceList() {
  const rows: ImportDifference[] = [];
  let [total, characters] = [0, 0];
  return {
    add(differences: readonly ImportDifference[]): void {
      total += differences.length;
      for (const difference of differences) {
        if (rows.length >= differencesListedMax || characters > listedCharactersMax) return;
        characters += JSON.stringify(differenceJson("id", difference)).length;
        rows.push(difference);
      }
    },
    result: (): Differences => ({ total, rows }),
  };
}

/** A difference for JSON.stringify. Ids have 64 bits. */
export function differenceJson(
  idName: string,
  { id, field, from, to }: ImportDifference,
): Readonly<Record<string, unknown>> {
  return { [idName]: exactInteger(id), field, from: exactValue(from), to: exactValue(to) };
}

/** Differences for JSON.stringify, as the operator API returns them. */
export function differencesJson({ total, rows }: Differences) {
  return { total, rows: rows.map((row) => differenceJson("id", row)) };
}

const exactValue = (value: unknown) => (typeof value === "bigint" ? exactInteger(value) : value);

/**
 * Work that takes seconds of processor time, made in a process of its own. Rejects with the ServiceError
 * with which the work ended, or with `unavailable` if it failed or was not finished in time. Work that is
 * aborted stores nothing, unless its transaction was about to end: then it is not known what was stored.
 */
export interface LongWork {
  /** Imports the file behind a descriptor. */
  importFile(run: ImportRun, file: number, signal: AbortSignal): Promise<ImportOutcome>;
  undo(run: UndoRun, signal: AbortSignal): Promise<Undone>;
}
