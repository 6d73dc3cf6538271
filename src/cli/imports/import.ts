import { statSync } from "node:fs";
import { basename } from "node:path";
import { type Config, readConfig } from "../../config.ts";
import { newCommand } from "../../domain/audit/audit.ts";
import { type ImportKind, orders, pets } from "../../domain/catalogue/import-kinds.ts";
import type {
  Batches,
  FoundColumn,
  Imported,
  ImportOrigin,
  ImportPreview,
} from "../../domain/catalogue/import-preview.ts";
import {
  createProblems,
  type Problems,
  RejectedImport,
} from "../../domain/catalogue/import-problems.ts";
import { invalidRequest } from "../../domain/running/errors.ts";
import type { Store } from "../../domain/store.ts";
import {
  type Delimiter,
  delimiterNames,
  findDelimiter,
  importFormats,
} from "../../files/formats.ts";
import { freeMemory } from "../../files/memory.ts";
import { readRecords } from "../../files/rows.ts";
import { spool } from "../../files/spool.ts";
import { type HeaderMap, headerMapRule, ignored, parseHeaderMap } from "../../files/table.ts";
import type { Bytes } from "../../files/text.ts";
import { systemClock } from "../../opening/engines.ts";
import {
  findStore,
  openOrCreateStore,
  withEmptyStore,
  withStorePath,
} from "../../opening/stores.ts";
import { print, printError } from "../../output.ts";
import { command, creatingSettings, json, type UnlistedCommand } from "../command.ts";
import { formatFlag, formatOf, nameOf, readBytes } from "../files.ts";
import { parseOptional } from "../flags.ts";
import { beginChange } from "../interruption.ts";
import { createProgress } from "../progress.ts";
import { isSpecial } from "../replacement.ts";
import { printCreated } from "../store-command.ts";
import { printPreview } from "./preview.ts";
import { reportProblems } from "./report.ts";

/** The flags of both imports. */
const importFlags = {
  format: formatFlag(importFormats),
  delimiter: {
    placeholder: delimiterNames.join("|"),
    description:
      "What stands between the cells of a CSV file, by name or as , or ;. Default: found by the header.",
  },
  map: {
    placeholder: "HEADER=FIELD",
    repeatable: true,
    description: `Field of a column with another name, or ${ignored} to leave it out. Can be repeated.`,
  },
  "dry-run": { description: "Show what would change, and change nothing." },
  differences: {
    placeholder: "N",
    description:
      "Maximum number of differences that --dry-run lists. Default: 50, or all with --json.",
  },
  json,
} as const;

export const petsImportCommand = importCommand(pets, {
  name: "pets import",
  summary: "Adds and updates pets and their stock.",
  examples: [
    "petstore pets import pets.csv --dry-run",
    "petstore pets import Bestand.xlsx --map Artikel=petId --map Preis=ignore",
  ],
});

export const ordersImportCommand = importCommand(orders, {
  name: "orders import",
  summary: "Adds and updates orders.",
  examples: ["petstore orders import orders.csv"],
});

/** Exits with 2 if a row has a problem. Nothing is imported then, and no store created. */
function importCommand<T>(
  kind: ImportKind<T>,
  texts: Pick<UnlistedCommand, "name" | "summary" | "examples">,
): UnlistedCommand {
  return command({
    ...texts,
    operands: [{ name: "FILE", description: "File to read. - reads standard input." }],
    flags: importFlags,
    changes: true,
    settings: creatingSettings,
    async run({ flags, operands: [file], settings }) {
      const config = readConfig(settings);
      const format = formatOf(file, flags.format, importFormats);
      const differencesMax = parseOptional("--differences", flags.differences, 0);
      const problems = createProblems();
      const delimiter = parseDelimiter(flags.delimiter);
      const map = readMap(flags.map, Object.keys(kind.rows.columns));
      let columns: FoundColumn[] = [];
      const recordsOf = (bytes: Bytes) => {
        columns = [];
        return readRecords(bytes, format, kind.rows, problems, { delimiter, map, found: columns });
      };
      await using opened = new AsyncDisposableStack();
      const open = () => recordsOf(readWithProgress(file, opened));
      try {
        const use = flags["dry-run"] ? "reads" : "writes";
        const found = await findStore(config, systemClock, use);
        if (found) opened.defer(() => found.close());
        // Clients and receivers of webhooks see the reason, so it has no folders.
        const origin = { actor: newCommand(), reason: `import of ${basename(file)}` };
        if (flags["dry-run"]) {
          const records = open();
          const preview = (one: ImportPreview) =>
            printPreview(
              kind,
              (take) =>
                kind.preview(one, records, problems, async (differences) => {
                  await take(differences);
                  freeMemory();
                }),
              differencesMax,
              flags.json,
              columns,
            );
          return await (found ? preview(found.catalogue) : withEmptyStore(config, preview));
        }
        const imported = found
          ? await importInto(kind, found, open(), problems, origin)
          : await importIntoNew(kind, config, recordsOf, problems, file, origin, opened);
        printResult(kind.what, file, imported, flags.json);
      } catch (error) {
        if (!(error instanceof RejectedImport)) throw withStorePath(config, error);
        return reportProblems(nameOf(file), error.problems, flags.json, columns);
      }
    },
  });
}

function parseDelimiter(text: string | undefined): Delimiter | undefined {
  const found = text === undefined ? undefined : findDelimiter(text);
  if (text === undefined || found) return found;
  const rule = `must be one of ${delimiterNames.join(", ")}`;
  throw invalidRequest(`--delimiter ${rule}, not '${text}'`);
}

function readMap(text: string | undefined, fields: readonly string[]): HeaderMap {
  const map = text === undefined ? new Map() : parseHeaderMap(text, fields);
  if (map) return map;
  throw invalidRequest(`--map ${headerMapRule(fields)}, not '${text}'`);
}

/** Checks all rows before it creates the store, so that a bad file or a signal leaves none. */
async function importIntoNew<T>(
  kind: ImportKind<T>,
  config: Config,
  recordsOf: (bytes: Bytes) => Batches<T>,
  problems: Problems,
  file: string,
  origin: ImportOrigin,
  opened: AsyncDisposableStack,
): Promise<Imported> {
  const first = readWithProgress(file, opened);
  const kept = file === "-" || isSpecial(file) ? opened.use(await spool(first)) : undefined;
  await withEmptyStore(config, (preview) =>
    kind.preview(preview, recordsOf(kept?.read() ?? first), problems, async () => {}),
  );
  // From here on, a signal waits for the import. It would leave an empty store.
  beginChange();
  const store = await openOrCreateStore(config, systemClock, printCreated);
  opened.defer(() => store.close());
  const again = kept?.read() ?? readWithProgress(file, opened);
  return importInto(kind, store, recordsOf(again), problems, origin);
}

function importInto<T>(
  kind: ImportKind<T>,
  store: Store,
  records: Batches<T>,
  problems: Problems,
  origin: ImportOrigin,
): Promise<Imported> {
  async function* beforeChange() {
    yield* records;
    // The store now applies all rows in one transaction.
    if (problems.count() === 0) beginChange();
  }
  return kind.importAll(store.catalogue, beforeChange(), origin, problems);
}

/** Shows how much of the file was read, until `opened` is closed. */
function readWithProgress(file: string, opened: AsyncDisposableStack): Bytes {
  const bytes = statSync(file, { throwIfNoEntry: false })?.size;
  const progress = opened.use(createProgress(`Importing ${file}`, bytes, { unit: "bytes" }));
  return (async function* read() {
    for await (const chunk of readBytes(file)) {
      progress.advance(chunk.length);
      yield chunk;
    }
  })();
}

function printResult(what: string, file: string, imported: Imported, asJson: boolean): void {
  const { created, changed, unchanged } = imported;
  if (asJson) print(JSON.stringify(imported));
  else print(`Imported ${what}: ${created} created, ${changed} changed, ${unchanged} unchanged.`);
  if (created + changed + unchanged === 0) {
    printError(`${nameOf(file)} has no rows; nothing was imported`);
  }
}
