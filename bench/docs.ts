// Writes the results into the documentation: the plots, and blocks between two markers in
// docs/benchmarks.md. The text around a block is not changed.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { drawPlot } from "./plot.ts";
import type { Results } from "./results.ts";

/** The first line and the last line of each block. */
const markers = {
  figures: ["<!-- figures: written by npm run bench -- --docs docs -->", "<!-- end of figures -->"],
  comparison: [
    "<!-- comparison: written by npm run bench -- --beside VERSION --docs docs -->",
    "<!-- end of comparison -->",
  ],
  budget: [
    "<!-- budget: written by npm run bench -- --only budget --docs docs -->",
    "<!-- end of budget -->",
  ],
} as const;
export type Block = keyof typeof markers;

/** Replaces the block in benchmarks.md, if the directory has this file. */
export function writeBlock(block: Block, content: string, directory: string): void {
  const file = join(directory, "benchmarks.md");
  if (!existsSync(file)) return;
  const text = readFileSync(file, "utf8");
  const [opening, closing] = markers[block];
  const from = text.indexOf(opening);
  const to = text.indexOf(closing);
  if (from < 0 || to < from) {
    throw new Error(`${file} does not contain the markers of the ${block}.`);
  }
  const before = text.slice(0, from + opening.length);
  writeFileSync(file, `${before}\n\n${content}\n\n${text.slice(to)}`);
}

export function writePlots(results: Results, directory: string): void {
  mkdirSync(directory, { recursive: true });
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
