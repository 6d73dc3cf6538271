import type { FoundFile } from "../domain/catalogue/import-preview.ts";
import { type Problems, shownValue } from "../domain/catalogue/import-problems.ts";
import type { CellKind, Fields, RowKind } from "../domain/catalogue/imports.ts";
import { JsonNumber, parseJson } from "../domain/values/json.ts";
import { findNearest } from "../domain/values/nearest.ts";
import { exactText, original } from "../domain/values/spreadsheet-text.ts";
import { delimiters } from "./formats.ts";
import { BrokenText } from "./lines.ts";

/** The text of a cell, or why it has none. */
export type Cell = string | { readonly value: string; readonly rule: string };

/** The fields that headers stand for, apart from those that are named like a field. */
export type HeaderMap = ReadonlyMap<string, string>;

/** The field of a column that is not imported. */
export const ignored = "ignore";

/** Where rows go, and how. */
export interface TableTarget {
  readonly columns: RowKind<never>["columns"];
  readonly map: HeaderMap;
  readonly found: Partial<FoundFile>;
  readonly problems: Problems;
  take(line: number, fields: Fields): void;
}

/** How many rows are shown beside the headers. */
const samplesMax = 3;

/**
 * Takes the rows of a table, of which the first one is the header. Passes the fields of the others on.
 * In a workbook, a row ends with its last cell that has a value.
 */
export function createTableReader({ columns, map, found, problems, take }: TableTarget) {
  let fields: readonly string[] | undefined;
  let readers: readonly ((cell: string) => unknown)[] = [];
  let samples = 0;
  /** Thrown after the first rows, which help to map the column. */
  let unknown: BrokenText | undefined;

  function takeHeader(line: number, cells: readonly Cell[]): void {
    const names = Object.keys(columns);
    const headers = cells.map(headerOf);
    if (found.sheet !== undefined) while (headers.at(-1) === "") headers.pop();
    const fieldsFound = headers.map((header) => fieldOf(header, names, map));
    found.fields = names;
    found.columns = headers.map((header, at) => ({
      ...{ header, field: fieldsFound[at] ?? null, samples: [] },
    }));
    const at = fieldsFound.indexOf(undefined);
    if (at >= 0) unknown = new BrokenText(line, unknownColumn(headers[at]!, names));
    fields = fieldsFound.map((field) => field ?? ignored);
    for (const [index, field] of fields.entries()) {
      if (field !== "" && field !== ignored && fields.indexOf(field) !== index) {
        throw new BrokenText(line, `duplicate column '${shownValue(field)}'`);
      }
    }
    const hasDecimalComma = found.delimiter === "semicolon";
    readers = fields.map((field) => readerOf(columns[field], hasDecimalComma));
  }

  return {
    take(line: number, cells: readonly Cell[]): void {
      if (cells.every((cell) => cell === "")) return;
      if (!fields) {
        takeHeader(line, cells);
        return;
      }
      if (samples < samplesMax) {
        samples += 1;
        for (const [at, column] of found.columns!.entries()) {
          column.samples.push(shownValue(textOf(cells[at] ?? "")));
        }
      }
      if (unknown) {
        if (samples === samplesMax) throw unknown;
        return;
      }
      if (cells.length !== fields.length && found.sheet === undefined) {
        const noun = cells.length === 1 ? "cell" : "cells";
        const rule = `has ${cells.length} ${noun}, but the header has ${fields.length}`;
        const text = cells.join(delimiters[found.delimiter ?? "comma"]);
        problems.add({ line, value: shownValue(text), rule });
        return;
      }
      const values: Record<string, unknown> = {};
      let isBad = false;
      for (const [at, cell] of cells.entries()) {
        // A column without a name must be empty: the check of the row refuses a field without one.
        const field = fields[at] ?? "";
        // An empty cell leaves the field as it is.
        if (cell === "" || field === ignored) continue;
        if (typeof cell === "string") values[field] = (readers[at] ?? String)(cell);
        else {
          problems.add({ line, column: field, value: shownValue(cell.value), rule: cell.rule });
          isBad = true;
        }
      }
      if (!isBad) take(line, values);
    },
    end(): void {
      if (unknown) throw unknown;
      if (!fields && found.sheet !== undefined) throw new BrokenText(1, "the sheet is empty");
    },
  };
}

function textOf(cell: Cell): string {
  return typeof cell === "string" ? cell : cell.value;
}

const headerCharactersMax = 200;

/** A header can have line breaks, which nobody types when they map it. */
function headerOf(cell: Cell): string {
  const text = textOf(cell).trim().replace(/\s+/g, " ");
  return text.slice(0, headerCharactersMax).toWellFormed();
}

function fieldOf(header: string, names: readonly string[], map: HeaderMap): string | undefined {
  return map.get(header) ?? (names.includes(header) || header === "" ? header : undefined);
}

function unknownColumn(column: string, columns: readonly string[]): string {
  const nearest = findNearest(column, columns);
  const advice = nearest ? `did you mean ${nearest}?` : `expected ${columns.join(", ")}`;
  return `unknown column '${shownValue(column)}'; ${advice}`;
}

/** Converts a cell to a JSON value, so that the same rules apply to every format. */
function readerOf(kind: CellKind | undefined, hasDecimalComma: boolean) {
  if (kind === "integer") return (cell: string) => integerOf(cell.trim(), hasDecimalComma);
  return kind ? cellValues[kind] : String;
}

const cellValues: Readonly<Record<Exclude<CellKind, "integer">, (cell: string) => unknown>> = {
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

const plainInteger = /^-?[0-9]+$/;
/** Either a fraction or groups of three digits. */
const eitherOf = /^-?[1-9][0-9]{0,2}[.,][0-9]{3}$/;
const withFraction = /^(-?[0-9]+)[.,]([0-9]+)$/;
const inGroups =
  /^(-?[0-9]{1,3})((?:([.,'’ \u00a0\u202f])[0-9]{3})(?:\3[0-9]{3})*)(?:([.,])([0-9]+))?$/;

/**
 * Reads `3,0`, `1.234,00` and `1 234` as people write numbers. `1.234` and `1,234` can be a fraction.
 * Only in a file with semicolons, which programs write where the comma is the decimal mark, the point
 * is known to divide groups. Otherwise the text is returned, which the rule for numbers refuses.
 */
function integerOf(text: string, hasDecimalComma: boolean): JsonNumber | string {
  if (plainInteger.test(text)) return new JsonNumber(text);
  if (eitherOf.test(text)) {
    const isGrouped = hasDecimalComma && text.includes(".");
    return isGrouped ? new JsonNumber(text.replace(".", "")) : text;
  }
  const [, whole, fraction] = withFraction.exec(text) ?? [];
  if (whole !== undefined) return new JsonNumber(`${whole}.${fraction}`);
  const [, first = "", groups = "", divider, mark, rest = "0"] = inGroups.exec(text) ?? [];
  if (first === "" || divider === mark) return numberOf(text);
  return new JsonNumber(`${first}${groups.replaceAll(/[^0-9]/g, "")}.${rest}`);
}

/** Reads `a|b|c`, or a JSON array for items that contain a bar. */
function listOf(cell: string): unknown {
  if (!cell.startsWith("[")) return cell.split("|");
  try {
    return parseJson(cell);
  } catch {
    return cell;
  }
}
