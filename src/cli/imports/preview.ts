import type { ImportKind } from "../../domain/catalogue/import-kinds.ts";
import type {
  FoundColumn,
  ImportDifference,
  Imported,
  TakeDifferences,
} from "../../domain/catalogue/import-preview.ts";
import { shownValue } from "../../domain/catalogue/import-problems.ts";
import { differenceJson } from "../../domain/catalogue/import-runs.ts";
import { print, printable } from "../../output.ts";
import { writeToStdout } from "../files.ts";
import { type Column, printTable } from "../table.ts";

const differencesShownMax = 50;

/**
 * Prints what an import would change, with at most `listedMax` differences. Unless it is given, people
 * see the first ones and programs get all.
 */
export async function printPreview(
  { what, id }: Pick<ImportKind<never>, "what" | "id">,
  preview: (take: TakeDifferences) => Promise<Imported>,
  listedMax: number | undefined,
  asJson: boolean,
  found: readonly FoundColumn[],
): Promise<void> {
  if (asJson) await printJson(id, preview, listedMax ?? Infinity, found);
  else await printText(what, id, preview, listedMax ?? differencesShownMax);
}

async function printText(
  what: string,
  id: string,
  preview: (take: TakeDifferences) => Promise<Imported>,
  listedMax: number,
): Promise<void> {
  const shown: ImportDifference[] = [];
  let count = 0;
  const { created, changed, unchanged } = await preview(async (differences) => {
    count += differences.length;
    shown.push(...differences.slice(0, listedMax - shown.length));
  });
  if (shown.length > 0) await printTable(shown, columnsOf(id));
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
  listedMax: number,
  columns: readonly FoundColumn[],
): Promise<void> {
  const opening = '{"dryRun":true,"differences":[';
  let separator = opening;
  let differenceCount = 0;
  const imported = await preview(async (differences) => {
    const listed = differences.slice(0, Math.max(0, listedMax - differenceCount));
    differenceCount += differences.length;
    if (listed.length === 0) return;
    const rows = listed.map((difference) => JSON.stringify(differenceJson(id, difference)));
    await writeToStdout(`${separator}${printable(rows.join())}`);
    separator = ",";
  });
  const start = separator === opening ? opening : "";
  const end = JSON.stringify({ differenceCount, ...imported, columns });
  await writeToStdout(`${start}],${end.slice(1)}\n`);
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
  return shownValue(typeof value === "bigint" ? String(value) : value);
}
