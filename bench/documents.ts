// Puts a run's results into the documentation: the plots, and the block of docs/benchmarks.md that
// is the benchmark's own. What stands around that block is written by people and left alone.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Book } from "./book.ts";
import type { Machine } from "./machine.ts";
import { drawPlot } from "./plot.ts";
import { toMarkdown } from "./report.ts";

const opening = "<!-- figures: written by npm run bench -- --docs docs -->";
const closing = "<!-- end of figures -->";

export function writeDocuments(book: Book, machine: Machine, directory: string): void {
  mkdirSync(directory, { recursive: true });
  writePlots(book, directory);
  const file = join(directory, "benchmarks.md");
  if (!existsSync(file)) return;
  const text = readFileSync(file, "utf8");
  const from = text.indexOf(opening);
  const to = text.indexOf(closing);
  if (from < 0 || to < from) throw new Error(`${file} has no block for the figures.`);
  writeFileSync(
    file,
    `${text.slice(0, from + opening.length)}\n\n${toMarkdown(book, machine)}\n\n${text.slice(to)}`,
  );
}

function writePlots(book: Book, directory: string): void {
  const series = Object.entries(book.cost).map(([name, points]) => ({
    name,
    points: points.map(({ entries, cpuMicroseconds }) => ({ x: entries, y: cpuMicroseconds })),
  }));
  if (series.length > 0) {
    const svg = drawPlot({
      title: "Server CPU per request against the size of the catalogue",
      xTitle: "entries",
      yTitle: "µs of CPU per request",
      scale: "logarithmic",
      series,
    });
    writeFileSync(join(directory, "benchmarks.svg"), svg);
  }
  if (book.memory.length > 1) {
    const points = book.memory.map(({ seconds, residentMb }) => ({ x: seconds, y: residentMb }));
    const svg = drawPlot({
      title: "Resident memory under a mixed load",
      xTitle: "seconds",
      yTitle: "MB",
      scale: "linear",
      series: [{ name: "service", points }],
    });
    writeFileSync(join(directory, "benchmarks-memory.svg"), svg);
  }
}
