// Writes the results into the documentation: the plots, and the block between two markers in
// docs/benchmarks.md. The text around the block is not changed.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Machine } from "./machine.ts";
import { drawPlot } from "./plot.ts";
import { toMarkdown } from "./report.ts";
import type { Results } from "./results.ts";

const opening = "<!-- figures: written by npm run bench -- --docs docs -->";
const closing = "<!-- end of figures -->";

export function writeDocs(results: Results, machine: Machine, directory: string): void {
  mkdirSync(directory, { recursive: true });
  writePlots(results, directory);
  const file = join(directory, "benchmarks.md");
  if (!existsSync(file)) return;
  const text = readFileSync(file, "utf8");
  const from = text.indexOf(opening);
  const to = text.indexOf(closing);
  if (from < 0 || to < from)
    throw new Error(`${file} does not contain the markers of the figures.`);
  writeFileSync(
    file,
    `${text.slice(0, from + opening.length)}\n\n${toMarkdown(results, machine)}\n\n${text.slice(to)}`,
  );
}

function writePlots(results: Results, directory: string): void {
  const series = Object.entries(results.cost).map(([name, points]) => ({
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
  if (results.memory.length > 1) {
    const points = results.memory.map(({ seconds, residentMb }) => ({ x: seconds, y: residentMb }));
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
