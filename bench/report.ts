// Formats the results: tables on the terminal, Markdown for the documentation, JSON for programs.
import type { Comparison, Ratio } from "./comparison.ts";
import { type Figure, figures, meets } from "./figures.ts";
import type { Machine } from "./machine.ts";
import type { DataTable, Results } from "./results.ts";

interface Table {
  titles: string[];
  rows: string[][];
}

export function printReport(results: Results, machine: Machine): void {
  console.log(`\n${Object.values(machine).join("; ")}\n`);
  if (results.rows.length > 0) console.log(toText(measurementTable(results.rows)));
  if (results.figures.length > 0) console.log(`\n${toText(figureTable(results))}`);
  if (results.oldVersion !== undefined) console.log(`\nold: ${results.oldVersion}`);
  if (results.comparisons.length > 0) console.log(`\n${toText(versionTable(results))}`);
  for (const table of results.tables) {
    console.log(`\n${table.title}\n\n${toText(tableOf(table))}`);
  }
  if (results.notes.length > 0)
    console.log(`\n${results.notes.map((note) => `· ${note}`).join("\n")}`);
}

export function toJson(results: Results, machine: Machine): string {
  const reached = results.figures.map(({ name, value }) => {
    const figure: Figure = figures[name];
    return { name, ...figure, value, status: statusOf(figure, value) };
  });
  const { rows, tables, notes, cost, memory, oldVersion, comparisons } = results;
  const versions = { oldVersion, comparisons };
  const all = { machine, figures: reached, rows, tables, ...versions, cost, memory, notes };
  return `${JSON.stringify(all, null, 2)}\n`;
}

export function toMarkdown(results: Results, machine: Machine): string {
  const facts = Object.entries(machine).map(([name, value]) => `- ${name}: ${value}`);
  const notes = results.notes.map((note) => `- ${note}`);
  return [
    facts.join("\n"),
    tableToMarkdown(figureTable(results)),
    tableToMarkdown(
      // The plot has the rows of the section growth.
      measurementTable(results.rows.filter(({ scenario }) => !scenario.startsWith("growth,"))),
    ),
    ...results.tables.map((table) => `${table.title}:\n\n${tableToMarkdown(tableOf(table))}`),
    notes.join("\n"),
  ]
    .filter((part) => part !== "")
    .join("\n\n");
}

/** The table of a run with --beside, below one line about it. */
export function comparisonsToMarkdown(results: Results, machine: Machine): string {
  const { version, date, ...facts } = machine;
  const about = `${version} divided by ${results.oldVersion}, ${date}: ${Object.values(facts).join("; ")}.`;
  const notes = results.notes.map((note) => `- ${note}`).join("\n");
  return [about, tableToMarkdown(shortVersionTable(results)), notes]
    .filter((part) => part !== "")
    .join("\n\n");
}

/** The table of a run with --only budget, below one line about it. */
export function budgetToMarkdown({ tables, notes }: Results, machine: Machine): string {
  const about = `${Object.values(machine).join("; ")}.`;
  const shown = tables.map((table) => tableToMarkdown(tableOf(table)));
  return [about, ...shown, ...notes.map((note) => `- ${note}`)].join("\n\n");
}

function tableOf({ rows }: DataTable): Table {
  return {
    titles: Object.keys(rows[0] ?? {}),
    rows: rows.map((row) => Object.values(row).map(formatCell)),
  };
}

/** The smaller a number, the more of its digits matter. */
function formatCell(value: number | string): string {
  if (typeof value === "string") return value;
  const maximumFractionDigits = value < 1 ? 3 : value < 10 ? 2 : value < 100 ? 1 : 0;
  return value.toLocaleString("en-US", { maximumFractionDigits });
}

function measurementTable(rows: Results["rows"]): Table {
  return {
    titles: [
      "scenario",
      "contestant",
      "responses/s",
      "p50 ms",
      "p99 ms",
      "CPU µs/response",
      "generator",
    ],
    rows: rows.map((row) => [
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

function figureTable(results: Results): Table {
  return {
    titles: ["figure", "reached", "hold", "aim", ""],
    rows: results.figures.map(({ name, value }) => {
      const figure: Figure = figures[name];
      return [
        figure.what,
        `${value.toFixed(2)} ${figure.unit}`,
        bar(figure, figure.hold),
        bar(figure, figure.aim),
        statusOf(figure, value),
      ];
    }),
  };
}

/** For new/old, and for old again/old as the noise: median, 95 % interval, and the ratio of the best runs. */
function versionTable(results: Results): Table {
  const cells = (ratio: Ratio) => [
    ratio.median.toFixed(3),
    formatInterval(ratio),
    ratio.best.toFixed(3),
  ];
  return {
    titles: [
      ...["scenario", "measure", "rounds", "new/old", "95 % interval", "best"],
      ...["old/old", "95 % interval", "best", "bound", "result"],
    ],
    rows: results.comparisons.map((comparison) => [
      comparison.scenario,
      comparison.measure,
      String(comparison.rounds),
      ...cells(comparison.newToOld),
      ...cells(comparison.oldToOld),
      `${(comparison.bound * 100).toFixed(0)} %`,
      comparison.result,
    ]),
  };
}

/** One row per scenario. */
function shortVersionTable({ comparisons, rows }: Results): Table {
  const cpuOf = (scenario: string, version: string) => {
    const row = rows.find((one) => one.scenario === scenario && one.contestant === version);
    return row?.cpuMicroseconds?.toFixed(1) ?? "n/a";
  };
  const cellsOf = (scenario: string, measure: Comparison["measure"]) => {
    const found = comparisons.find((one) => one.scenario === scenario && one.measure === measure);
    return found
      ? [found.newToOld.median.toFixed(3), formatInterval(found.newToOld)]
      : ["n/a", "n/a"];
  };
  const rates = comparisons.filter(({ measure }) => measure === "responses/s");
  return {
    titles: [
      ...["scenario", "CPU µs, old", "new", "CPU new/old", "95 % interval"],
      ...["responses/s new/old", "95 % interval", "rounds"],
    ],
    rows: rates.map(({ scenario, rounds }) => [
      scenario,
      cpuOf(scenario, "old"),
      cpuOf(scenario, "new"),
      ...cellsOf(scenario, "CPU µs/response"),
      ...cellsOf(scenario, "responses/s"),
      String(rounds),
    ]),
  };
}

function formatInterval({ interval }: Ratio): string {
  return interval ? `${interval.low.toFixed(3)}–${interval.high.toFixed(3)}` : "n/a";
}

function bar(figure: Figure, value: number): string {
  return `${figure.better === "lower" ? "≤" : "≥"} ${value} ${figure.unit}`;
}

function statusOf(figure: Figure, value: number): string {
  if (meets(figure, value, figure.aim)) return "aim met";
  return meets(figure, value, figure.hold) ? "holds" : "MISSED";
}

/** Columns of numbers are aligned to the right, the others to the left. A cell may be empty. */
function numericColumns({ titles, rows }: Table): boolean[] {
  return titles.map((_, column) => rows.every((row) => /^(-?\d|≤|≥|n\/a|$)/.test(row[column]!)));
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
