import type { ImportRun, UndoRun } from "../domain/catalogue/import-runs.ts";
import type { SentError } from "../domain/running/errors.ts";
import type { WorkedStore } from "../opening/stores.ts";
import type { Applied, StagedImport } from "../store/sqlite/imports.ts";
import type { ApplyMethod } from "../store/sqlite/ports.ts";

/** Messages between the service and the process that does its long work. */

/** The one piece of work of a process. */
export interface Work {
  readonly store: WorkedStore;
  readonly wanted:
    | { readonly kind: "import"; readonly run: ImportRun }
    | { readonly kind: "undo"; readonly run: UndoRun };
  /** On SQLite: where the rows of an import are staged, for the service to apply. */
  readonly stageFile: string | undefined;
}

/** How work or a call has ended: an error has `bug` if it is not a ServiceError. */
export type Ending<T> =
  | { readonly result: T }
  | { readonly error: SentError }
  | { readonly bug: string };

/** Asks the service to apply staged rows. */
export interface Apply {
  readonly kind: "apply";
  readonly method: ApplyMethod;
  readonly given: StagedImport;
}

/** What the process says. Its work ends after `ended`. */
export type WorkAnswer =
  | Apply
  /** From now on, the work may be stored. */
  | { readonly kind: "storing" }
  | { readonly kind: "ended"; readonly ending: Ending<unknown> };

export type ApplyEnding = Ending<Applied>;
