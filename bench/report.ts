// The figures as a table for people and as JSON for machines.
import type { Book } from "./book.ts";
import { type Figure, figures, meets } from "./figures.ts";
import type { Machine } from "./machine.ts";

export function printReport(book: Book, machine: Machine): void {
  console.log(`\n${Object.values(machine).join("; ")}\n`);
  printTable(
    ["scenario", "contestant", "answers/s", "p50 ms", "p99 ms", "CPU µs/answer", "generator"],
    book.rows.map((row) => [
      row.scenario,
      row.contestant,
      Math.round(row.throughput).toLocaleString("en-US"),
      row.p50Ms?.toFixed(2) ?? "n/a",
      row.p99Ms?.toFixed(2) ?? "n/a",
      row.cpuMicroseconds?.toFixed(1) ?? "n/a",
      row.generatorBusy === undefined ? "n/a" : `${(row.generatorBusy * 100).toFixed(0)} %`,
    ]),
  );
  console.log();
  printTable(
    ["figure", "reached", "hold", "aim", ""],
    book.reached.map(({ name, value }) => {
      const figure: Figure = figures[name];
      return [
        figure.what,
        `${value.toFixed(2)} ${figure.unit}`,
        bar(figure, figure.hold),
        bar(figure, figure.aim),
        verdict(figure, value),
      ];
    }),
  );
  if (book.notes.length > 0) console.log(`\n${book.notes.map((note) => `· ${note}`).join("\n")}`);
}

function bar(figure: Figure, value: number): string {
  return `${figure.better === "lower" ? "≤" : "≥"} ${value} ${figure.unit}`;
}

function verdict(figure: Figure, value: number): string {
  if (meets(figure, value, figure.aim)) return "aim met";
  return meets(figure, value, figure.hold) ? "holds" : "MISSED";
}

export function toJson(book: Book, machine: Machine): string {
  const reached = book.reached.map(({ name, value }) => {
    const figure: Figure = figures[name];
    return { name, ...figure, value, verdict: verdict(figure, value) };
  });
  const { rows, notes, cost, memory } = book;
  return `${JSON.stringify({ machine, figures: reached, rows, cost, memory, notes }, null, 2)}\n`;
}

/** Text to the left, numbers to the right, no wider than needed. */
function printTable(titles: string[], rows: string[][]): void {
  const widths = titles.map((title, column) =>
    Math.max(title.length, ...rows.map((row) => row[column]!.length)),
  );
  const numeric = titles.map((_, column) => rows.every((row) => /^[\d≤≥n]/.test(row[column]!)));
  const line = (cells: string[]) =>
    cells
      .map((cell, column) =>
        numeric[column] ? cell.padStart(widths[column]!) : cell.padEnd(widths[column]!),
      )
      .join("  ")
      .trimEnd();
  console.log(line(titles));
  console.log(widths.map((width) => "─".repeat(width)).join("  "));
  for (const row of rows) console.log(line(row));
}
