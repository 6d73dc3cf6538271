// The figures as tables for people, as Markdown for the documentation and as JSON for machines.
import type { Book } from "./book.ts";
import { type Figure, figures, meets } from "./figures.ts";
import type { Machine } from "./machine.ts";

interface Table {
  titles: string[];
  rows: string[][];
}

export function printReport(book: Book, machine: Machine): void {
  console.log(`\n${Object.values(machine).join("; ")}\n`);
  console.log(toText(measurements(book)));
  if (book.reached.length > 0) console.log(`\n${toText(comparison(book))}`);
  if (book.besides.length > 0) console.log(`\n${toText(besides(book))}`);
  if (book.notes.length > 0) console.log(`\n${book.notes.map((note) => `· ${note}`).join("\n")}`);
}

export function toJson(book: Book, machine: Machine): string {
  const reached = book.reached.map(({ name, value }) => {
    const figure: Figure = figures[name];
    return { name, ...figure, value, verdict: verdict(figure, value) };
  });
  const { rows, notes, cost, memory, besides } = book;
  const all = { machine, figures: reached, rows, besides, cost, memory, notes };
  return `${JSON.stringify(all, null, 2)}\n`;
}

export function toMarkdown(book: Book, machine: Machine): string {
  const facts = Object.entries(machine).map(([name, value]) => `- ${name}: ${value}`);
  const notes = book.notes.map((note) => `- ${note}`);
  return [
    facts.join("\n"),
    tableToMarkdown(comparison(book)),
    tableToMarkdown(measurements(book)),
    notes.join("\n"),
  ]
    .filter((part) => part !== "")
    .join("\n\n");
}

function measurements(book: Book): Table {
  return {
    titles: [
      "scenario",
      "contestant",
      "answers/s",
      "p50 ms",
      "p99 ms",
      "CPU µs/answer",
      "generator",
    ],
    rows: book.rows.map((row) => [
      row.scenario,
      row.contestant,
      Math.round(row.throughput).toLocaleString("en-US"),
      row.p50Ms?.toFixed(2) ?? "n/a",
      row.p99Ms?.toFixed(2) ?? "n/a",
      row.cpuMicroseconds?.toFixed(1) ?? "n/a",
      row.generatorBusy === undefined ? "n/a" : `${(row.generatorBusy * 100).toFixed(0)} %`,
    ]),
  };
}

function comparison(book: Book): Table {
  return {
    titles: ["figure", "reached", "hold", "aim", ""],
    rows: book.reached.map(({ name, value }) => {
      const figure: Figure = figures[name];
      return [
        figure.what,
        `${value.toFixed(2)} ${figure.unit}`,
        bar(figure, figure.hold),
        bar(figure, figure.aim),
        verdict(figure, value),
      ];
    }),
  };
}

/** New against old; beside it old against old, which is what chance alone does. */
function besides(book: Book): Table {
  return {
    titles: ["scenario", "measure", "old", "new", "new/old", "old/old"],
    rows: book.besides.map(({ scenario, measure, old, fresh, ratio, noise }) => [
      scenario,
      measure,
      old < 1000 ? old.toFixed(1) : Math.round(old).toLocaleString("en-US"),
      fresh < 1000 ? fresh.toFixed(1) : Math.round(fresh).toLocaleString("en-US"),
      ratio.toFixed(3),
      noise.toFixed(3),
    ]),
  };
}

function bar(figure: Figure, value: number): string {
  return `${figure.better === "lower" ? "≤" : "≥"} ${value} ${figure.unit}`;
}

function verdict(figure: Figure, value: number): string {
  if (meets(figure, value, figure.aim)) return "aim met";
  return meets(figure, value, figure.hold) ? "holds" : "MISSED";
}

/** Columns of numbers go to the right, the others to the left. */
function numericColumns({ titles, rows }: Table): boolean[] {
  return titles.map((_, column) => rows.every((row) => /^(\d|≤|≥|n\/a)/.test(row[column]!)));
}

function toText(table: Table): string {
  const numeric = numericColumns(table);
  const widths = table.titles.map((title, column) =>
    Math.max(title.length, ...table.rows.map((row) => row[column]!.length)),
  );
  const line = (cells: string[]) =>
    cells
      .map((cell, column) =>
        numeric[column] ? cell.padStart(widths[column]!) : cell.padEnd(widths[column]!),
      )
      .join("  ")
      .trimEnd();
  const rule = widths.map((width) => "─".repeat(width)).join("  ");
  return [line(table.titles), rule, ...table.rows.map(line)].join("\n");
}

function tableToMarkdown(table: Table): string {
  if (table.rows.length === 0) return "";
  const line = (cells: string[]) => `| ${cells.join(" | ")} |`;
  const rule = line(numericColumns(table).map((numeric) => (numeric ? "---:" : "---")));
  return [line(table.titles), rule, ...table.rows.map(line)].join("\n");
}
