import type { ImportRun, UndoRun } from "../domain/catalogue/import-runs.ts";
import { type SentError, ServiceError, sentError } from "../domain/running/errors.ts";
import type { WorkedStore } from "../opening/stores.ts";
import { withoutSecrets } from "../output.ts";
import type { StagedImport } from "../store/sqlite/imports.ts";

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

/** How work has ended: `bug` is an error that is not a ServiceError. */
export type Ending<T> =
  | { readonly result: T }
  | { readonly error: SentError }
  | { readonly bug: string };

/** Runs work, and returns how it ended. */
export async function endingOf<T>(doWork: () => Promise<T>): Promise<Ending<T>> {
  try {
    return { result: await doWork() };
  } catch (error) {
    if (error instanceof ServiceError) return { error: sentError(error) };
    const message = error instanceof Error ? error.message : String(error);
    return { bug: withoutSecrets(message.split("\n")[0]!) };
  }
}

/** What the process says. It has done its work after `ended`. */
export type WorkAnswer =
  /** Asks the service to apply staged rows. */
  | { readonly kind: "apply"; readonly given: StagedImport }
  /** From now on, the work may be stored. */
  | { readonly kind: "storing" }
  | { readonly kind: "ended"; readonly ending: Ending<unknown> };
