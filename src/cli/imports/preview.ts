import type { ImportDifference, Imported, TakeDifferences } from "../../domain/import-preview.ts";
import { shownValue } from "../../domain/import-problems.ts";
import { print, printable } from "../../output.ts";
import { writeText, writeToStdout } from "../files.ts";
import type { Column } from "../table.ts";
import { tableLines } from "../table.ts";
import type { ImportKind } from "./kinds.ts";

const differencesShownMax = 50;

/** Prints what an import would change: the first differences for people, all of them as JSON. */
export async function printPreview(
  { what, id }: Pick<ImportKind<never>, "what" | "id">,
  preview: (take: TakeDifferences) => Promise<Imported>,
  asJson: boolean,
): Promise<number> {
  if (asJson) await printJson(id, preview);
  else await printText(what, id, preview);
  return 0;
}

async function printText(
  what: string,
  id: string,
  preview: (take: TakeDifferences) => Promise<Imported>,
): Promise<void> {
  const shown: ImportDifference[] = [];
  let count = 0;
  const { created, changed, unchanged } = await preview(async (differences) => {
    count += differences.length;
    shown.push(...differences.slice(0, differencesShownMax - shown.length));
  });
  const width = () => (process.stdout.isTTY ? process.stdout.columns : undefined);
  if (count > 0) await writeText("-", tableLines(once(shown), columnsOf(id), width));
  if (count > shown.length) print(`${count - shown.length} more differences`);
  const counts = `${created} created, ${changed} changed, ${unchanged} unchanged`;
  print(`Would import ${what}: ${counts}. Nothing was changed.`);
}

/**
 * Written as it is read, because a million pets may differ. Nothing is written before the file is
 * known to have no problems.
 */
async function printJson(
  id: string,
  preview: (take: TakeDifferences) => Promise<Imported>,
): Promise<void> {
  const opening = '{"dryRun":true,"differences":[';
  let separator = opening;
  const imported = await preview(async (differences) => {
    if (differences.length === 0) return;
    const rows = differences.map((difference) => differenceJson(id, difference));
    await writeToStdout(`${separator}${printable(rows.join())}`);
    separator = ",";
  });
  const start = separator === opening ? opening : "";
  await writeToStdout(`${start}],${JSON.stringify(imported).slice(1)}\n`);
}

async function* once<T>(value: T): AsyncGenerator<T> {
  yield value;
}

function differenceJson(idName: string, { id, field, from, to }: ImportDifference): string {
  return `{"${idName}":${id},"field":"${field}","from":${jsonOf(from)},"to":${jsonOf(to)}}`;
}

/** Ids have 64 bits, which JSON.stringify does not write. */
function jsonOf(value: unknown): string {
  return typeof value === "bigint" ? String(value) : JSON.stringify(value);
}

function columnsOf(id: string): readonly Column<ImportDifference>[] {
  return [
    { title: id, align: "right", cell: (difference) => String(difference.id) },
    { title: "field", align: "left", cell: ({ field }) => field },
    { title: "from", align: "left", cell: ({ from }) => cellOf(from) },
    { title: "to", align: "left", cell: ({ to }) => cellOf(to) },
  ];
}

function cellOf(value: unknown): string {
  if (value === null) return "-";
  return shownValue(typeof value === "string" ? value : jsonOf(value));
}
