import type { FoundColumn } from "../domain/catalogue/import-preview.ts";
import { type Problems, shownValue } from "../domain/catalogue/import-problems.ts";
import type { Fields, RowKind } from "../domain/catalogue/imports.ts";
import { ambiguousNumber, listItemsMax } from "../domain/catalogue/pet-fields.ts";
import { hasTooManyValues, JsonNumber, valueOfJson } from "../domain/values/json.ts";
import { findNearest } from "../domain/values/nearest.ts";
import { type CellKind, exactText, original } from "../domain/values/spreadsheet-text.ts";
import { BrokenText, columnsMax, tooManyColumns } from "./lines.ts";

/** The text of a cell, or why it has none. */
export type Cell = string | { readonly value: string; readonly rule: string };

/** The cells of a row, by their column. A row of a workbook has only those that have a value. */
export type Cells = readonly Cell[] | ReadonlyMap<number, Cell>;

/** The fields that headers stand for, apart from those that are named like a field. */
export type HeaderMap = ReadonlyMap<string, string>;

/** The field of a column that is not imported. */
export const ignored = "ignore";

/** A header can contain `=`, and a field cannot. */
const headerLine = /^(\P{Cc}*)=(\w+)$/u;

/** Reads lines of `HEADER=FIELD`. */
export function parseHeaderMap(text: string, fields: readonly string[]): HeaderMap | undefined {
  const pairs = text.split("\n").map((line) => {
    const [, header = "", field = ""] = headerLine.exec(line) ?? [];
    return [headerOf(header), field] as const;
  });
  const isKnown = pairs.every(([, field]) => field === ignored || fields.includes(field));
  return isKnown ? new Map(pairs) : undefined;
}

export function headerMapRule(fields: readonly string[]): string {
  return `must be HEADER=FIELD, with a field of ${fields.join(", ")} or ${ignored}`;
}

/** Where rows go, and how. */
export interface TableTarget {
  readonly columns: RowKind<never>["columns"];
  readonly map: HeaderMap;
  /** Gets the columns of the file. */
  readonly found: FoundColumn[];
  readonly problems: Problems;
  take(line: number, fields: Fields): void;
}

/**
 * Takes the rows of a table, of which the first one is the header. Passes the fields of the others on.
 * There is no delimiter in a workbook.
 */
export function createTableReader({ columns, map, found, problems, take }: TableTarget) {
  let fields: readonly string[] | undefined;

  function takeHeader(line: number, given: Cells) {
    const cells = isDense(given) ? given : withGaps(given);
    if (cells.length > columnsMax) throw new BrokenText(line, tooManyColumns);
    const names = Object.keys(columns);
    for (const header of cells.map(headerOf)) {
      // A column without a name must be empty: the check of the row refuses a field without one.
      const isField = names.includes(header) || header === "";
      found.push({ header, field: map.get(header) ?? (isField ? header : null) });
    }
    const unknown = found.find(({ field }) => field === null);
    if (unknown) throw new BrokenText(line, unknownColumn(unknown.header, names));
    const known = found.map(({ field }) => field!);
    const twice = known.find((field, at) => names.includes(field) && known.indexOf(field) !== at);
    if (twice !== undefined) throw new BrokenText(line, `duplicate column '${twice}'`);
    fields = known;
  }

  return (line: number, cells: Cells, delimiter?: string): void => {
    if (isDense(cells) && cells.every((cell) => cell === "")) return;
    if (!fields) {
      takeHeader(line, cells);
      return;
    }
    if (isDense(cells) && cells.length !== fields.length) {
      const noun = cells.length === 1 ? "cell" : "cells";
      const rule = `has ${cells.length} ${noun}, but the header has ${fields.length}`;
      problems.add({ line, value: shownValue(cells.join(delimiter)), rule });
      return;
    }
    const values: Record<string, unknown> = {};
    let isBad = false;
    for (const [at, cell] of cells.entries()) {
      const field = fields[at] ?? "";
      // An empty cell leaves the field as it is.
      if (cell === "" || field === ignored) continue;
      if (typeof cell === "string") {
        // A field without a kind is refused with its row.
        values[field] = cellValues[columns[field] ?? "text"](cell, delimiter === ";");
      } else {
        problems.add({ line, column: field, value: shownValue(cell.value), rule: cell.rule });
        isBad = true;
      }
    }
    if (!isBad) take(line, values);
  };
}

function isDense(cells: Cells): cells is readonly Cell[] {
  return Array.isArray(cells);
}

function withGaps(cells: ReadonlyMap<number, Cell>): readonly Cell[] {
  return Array.from({ length: Math.max(...cells.keys()) + 1 }, (_, at) => cells.get(at) ?? "");
}

const headerCharactersMax = 200;

/** A header can have line breaks and other characters that nobody types when they map it. */
function headerOf(cell: Cell): string {
  const text = (typeof cell === "string" ? cell : cell.value).replace(/[\s\p{Cc}]+/gu, " ").trim();
  return text.slice(0, headerCharactersMax).toWellFormed();
}

function unknownColumn(column: string, columns: readonly string[]): string {
  const nearest = findNearest(column, columns);
  const advice = nearest ? `did you mean ${nearest}?` : `expected ${columns.join(", ")}`;
  return `unknown column '${shownValue(column)}'; ${advice}`;
}

type ReadCell = (cell: string, hasDecimalComma: boolean) => unknown;

/** Converts a cell to a JSON value, so that the same rules apply to every format. */
const cellValues: Readonly<Record<CellKind, ReadCell>> = {
  integer: (cell, hasDecimalComma) => integerOf(cell.trim(), hasDecimalComma),
  id: (cell) => numberOf(exactText(cell.trim())),
  flag: (cell) => (/^(?:true|false)$/i.test(cell) ? cell.toLowerCase() === "true" : cell),
  text: original,
  code: (cell) => exactText(cell.trim()),
  texts: (cell) => listOf(original(cell)),
};

function numberOf(text: string): JsonNumber | string {
  const first = text.charCodeAt(text.startsWith("-") ? 1 : 0);
  return first >= 48 && first <= 57 ? new JsonNumber(text) : text;
}

const numberCharactersMax = 100;

/** A whole number, perhaps in groups of three digits, and a fraction. */
const writtenNumber =
  /^(-?[1-9][0-9]{0,2}(?:([.,'’ \u00a0\u202f])[0-9]{3}(?:\2[0-9]{3})*)?|-?[0-9]+)(?:([.,])([0-9]+))?$/;

/**
 * Reads `3,0`, `1.234,00` and `1 234` as people write numbers. `1.234` and `1,234` can be a fraction.
 * Only in a file with semicolons, which programs write where the comma is the decimal mark, the point
 * is known to divide groups. Otherwise the text is returned, which the rule for numbers refuses.
 */
function integerOf(text: string, hasDecimalComma: boolean): JsonNumber | string {
  if (text.length > numberCharactersMax) return text;
  if (ambiguousNumber.test(text) && !(hasDecimalComma && text.includes("."))) return text;
  const [, whole = "", divider, mark, fraction] = writtenNumber.exec(text) ?? [];
  if (whole === "" || (mark && mark === divider)) return numberOf(text);
  const digits = divider ? whole.replaceAll(divider, "") : whole;
  return new JsonNumber(fraction === undefined ? digits : `${digits}.${fraction}`);
}

/** Reads `a|b|c`, or a JSON array for items that contain a bar. */
function listOf(cell: string): unknown {
  // One more than the rule for lists allows.
  if (!cell.startsWith("[")) return cell.split("|", listItemsMax + 1);
  if (hasTooManyValues(cell)) return cell;
  // Its numbers may lose digits: no item of a list can be one.
  return valueOfJson(cell) ?? cell;
}
