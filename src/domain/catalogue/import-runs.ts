import type { Actor } from "../audit/audit.ts";
import type { FoundColumn, ImportDifference, Imported } from "./import-preview.ts";
import type { Problem } from "./import-problems.ts";
import type { Selection, TogetherOptions } from "./undo-together.ts";

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
      readonly differences: { total: number; rows: readonly ListedDifference[] } | undefined;
      readonly columns: readonly FoundColumn[];
    }
  | {
      /** Nothing was imported. The first problems, and how many there are. */
      readonly kind: "rejected";
      readonly problems: readonly Problem[];
      readonly total: number;
      readonly columns: readonly FoundColumn[];
    }
  | NotRun;

/** Why a command was not run to its end. */
export type NotRun =
  | { readonly kind: "failed"; readonly reason: string }
  /** Another import or undo is being made. */
  | { readonly kind: "running" };

/** An undo of many changes that the service makes for an operator, or for an assistant. */
export interface UndoRun extends Selection, TogetherOptions {
  readonly isByAssistant?: boolean;
}

/** Values of JSON. Numbers are kept as they are written, so that no digit of an id is lost. */
export type ListedDifference = Readonly<Record<keyof ImportDifference, unknown>>;

/** How many differences a dry run lists. */
export const differencesListedMax = 1_000;

/** Runs one command at a time for operators, and one for assistants. */
export interface ImportRunner {
  /**
   * Imports a file, if nothing else is being made. Nothing is imported unless `bytes` ends without
   * an error. `onReceived` is called then: what follows takes as long as the file is large. An import
   * that is aborted changes nothing, unless its transaction was about to end.
   */
  run(
    request: ImportRun,
    bytes: AsyncIterable<Uint8Array>,
    onReceived: () => void,
    signal: AbortSignal,
  ): Promise<ImportOutcome>;
  /** Undoes changes. Returns the result as JSON, and throws the error with which the command ended. */
  undo(
    run: UndoRun,
    signal: AbortSignal,
  ): Promise<{ readonly kind: "undone"; readonly json: string } | NotRun>;
}
