import { once } from "node:events";
import { createReadStream, rmSync } from "node:fs";
import { type ImportKind, orders, pets } from "../domain/catalogue/import-kinds.ts";
import type { Batches, FoundColumn, Imported } from "../domain/catalogue/import-preview.ts";
import {
  createProblems,
  type Problems,
  RejectedImport,
} from "../domain/catalogue/import-problems.ts";
import {
  createDifferenceList,
  type ImportOutcome,
  type ImportRun,
  type UndoRun,
} from "../domain/catalogue/import-runs.ts";
import { importReasonOf } from "../domain/catalogue/imports.ts";
import { undoTogether } from "../domain/catalogue/undo-together.ts";
import { receivedError, ServiceError } from "../domain/running/errors.ts";
import type { Store } from "../domain/store.ts";
import { findDelimiter, type ImportFormat } from "../files/formats.ts";
import { freeMemory } from "../files/memory.ts";
import { readRecords } from "../files/rows.ts";
import { parseHeaderMap } from "../files/table.ts";
import { systemClock } from "../opening/engines.ts";
import { openExistingStore } from "../opening/stores.ts";
import { hideTyped } from "../output.ts";
import type { Applied, StagedImport } from "../store/sqlite/imports.ts";
import { type Ending, endingOf, type Work, type WorkAnswer } from "./messages.ts";

/**
 * The process that the service starts for an import or an undo. It gets its work over IPC, and ends with
 * the service: it must not store anything that nobody waits for.
 */
export async function work(): Promise<number> {
  let stageFile: string | undefined;
  process.once("disconnect", () => {
    if (stageFile !== undefined) rmSync(stageFile, { force: true });
    process.exit(0);
  });
  const [given] = (await once(process, "message")) as [Work];
  stageFile = given.stageFile;
  const ending = await endingOf(async () => {
    const store = await open(given);
    try {
      const { kind, run } = given.wanted;
      return await (kind === "import" ? importFile(store, run) : undo(store, run));
    } finally {
      await store.close();
    }
  });
  await send({ kind: "ended", ending });
  // The service disconnects when it has the message.
  await once(process, "disconnect");
  return 0;
}

/** An error names the store and its file, so it is not one of the messages that clients get. */
async function open({ store, wanted, stageFile }: Work): Promise<Store> {
  hideTyped([store.databaseUrl]);
  const use = wanted.run.isDryRun || stageFile !== undefined ? "reads" : "writes";
  const staging = stageFile === undefined ? undefined : { stageFile, apply };
  try {
    return await openExistingStore(store, systemClock, use, staging);
  } catch (error) {
    throw error instanceof ServiceError ? new Error(error.message) : error;
  }
}

function send(answer: WorkAnswer): Promise<void> {
  return new Promise((resolve, reject) => {
    process.send!(answer, undefined, undefined, (error) => (error ? reject(error) : resolve()));
  });
}

/** Applies staged rows with the writer of the service, which is the only one on SQLite. */
async function apply(given: StagedImport): Promise<Applied> {
  const answered = once(process, "message");
  await send({ kind: "apply", given });
  const [ending] = (await answered) as [Ending<Applied>];
  if ("error" in ending) throw receivedError(ending.error);
  if ("bug" in ending) throw new Error(ending.bug);
  return ending.result;
}

async function importFile(store: Store, run: ImportRun): Promise<ImportOutcome> {
  const problems = createProblems();
  const columns: FoundColumn[] = [];
  try {
    const imported =
      run.what === "pets"
        ? importRecords(pets, store, run, problems, columns)
        : importRecords(orders, store, run, problems, columns);
    return { kind: "imported", ...(await imported), columns: run.isDryRun ? columns : [] };
  } catch (error) {
    if (!(error instanceof RejectedImport)) throw error;
    return { kind: "rejected", problems: problems.list(), total: problems.count(), columns };
  }
}

async function importRecords<T>(
  kind: ImportKind<T>,
  { catalogue }: Store,
  { format, delimiter, map, isDryRun, name, actor }: ImportRun,
  problems: Problems,
  found: FoundColumn[],
) {
  const records = readRecords(
    createReadStream("", { fd: 0 }),
    format as ImportFormat,
    kind.rows,
    problems,
    {
      delimiter: delimiter === undefined ? undefined : findDelimiter(delimiter),
      map: parseHeaderMap(map ?? "", Object.keys(kind.rows.columns)) ?? new Map(),
      found,
    },
  );
  if (!isDryRun) {
    const origin = { actor, reason: importReasonOf(name)! };
    const noted = notingEnd(records, problems);
    const counts: Imported = await kind.importAll(catalogue, noted, origin, problems);
    return { counts, differences: undefined };
  }
  const differences = createDifferenceList();
  const counts = await kind.preview(catalogue, records, problems, async (some) => {
    differences.add(some);
    freeMemory();
  });
  return { counts, differences: differences.result() };
}

/** The same records. Tells the service when the store has all of them and may store them. */
async function* notingEnd<T>(records: Batches<T>, problems?: Problems): Batches<T> {
  yield* records;
  if (!problems || problems.count() === 0) await send({ kind: "storing" });
}

function undo({ catalogue, ...store }: Store, run: UndoRun) {
  const importPets: typeof catalogue.importPets = (records, ...others) =>
    catalogue.importPets(notingEnd(records), ...others);
  return undoTogether({ ...store, catalogue: { importPets } }, run, run);
}
