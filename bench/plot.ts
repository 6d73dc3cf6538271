// Draws line plots as SVG, readable on light and on dark pages, without scripts or fonts.

export interface Series {
  name: string;
  points: { x: number; y: number }[];
}

export interface Plot {
  title: string;
  xTitle: string;
  yTitle: string;
  scale: "logarithmic" | "linear";
  series: Series[];
}

const width = 760;
const height = 440;
const frame = { left: 84, right: 176, top: 48, bottom: 60 };
const style = `
  text { font: 13px system-ui, sans-serif; fill: #24292f; }
  .title { font-size: 16px; font-weight: 600; }
  .grid { stroke: #d0d7de; }
  .series0 { color: #0b63c5; } .series1 { color: #9a6700; } .series2 { color: #6e7781; }
  .line { fill: none; stroke: currentColor; stroke-width: 2.5; stroke-linejoin: round; }
  circle, .name { fill: currentColor; }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6edf3; }
    .grid { stroke: #3d444d; }
    .series0 { color: #58a6ff; } .series1 { color: #e3b341; } .series2 { color: #9198a1; }
    .name { fill: currentColor; }
  }`;

export function drawPlot(plot: Plot): string {
  const points = plot.series.flatMap((series) => series.points);
  const xAxis = axis(
    plot.scale,
    points.map(({ x }) => x),
    frame.left,
    width - frame.right,
  );
  const yAxis = axis(
    plot.scale,
    points.map(({ y }) => y),
    height - frame.bottom,
    frame.top,
  );
  const parts = [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" role="img" aria-label="${plot.title}">`,
    `<style>${style}\n</style>`,
    `<text class="title" x="${frame.left}" y="26">${plot.title}</text>`,
    ...xAxis.ticks.map((tick) => verticalLine(xAxis.position(tick), label(tick))),
    ...yAxis.ticks.map((tick) => horizontalLine(yAxis.position(tick), label(tick))),
    `<text x="${(frame.left + width - frame.right) / 2}" y="${height - 14}" text-anchor="middle">${plot.xTitle}</text>`,
    `<text transform="translate(18 ${(frame.top + height - frame.bottom) / 2}) rotate(-90)" text-anchor="middle">${plot.yTitle}</text>`,
    ...plot.series.map((series, index) => drawSeries(series, index, xAxis, yAxis)),
    ...drawLabels(plot.series, yAxis),
    "</svg>\n",
  ];
  return parts.join("\n");
}

interface Axis {
  ticks: number[];
  position(value: number): number;
}

function axis(scale: Plot["scale"], values: number[], from: number, to: number): Axis {
  if (scale === "linear") {
    const step = roundStep(Math.max(...values) / 5);
    const max = Math.ceil(Math.max(...values) / step) * step;
    const ticks = Array.from({ length: Math.round(max / step) + 1 }, (_, index) => index * step);
    return { ticks, position: (value) => from + ((to - from) * value) / max };
  }
  const low = Math.floor(Math.log10(Math.min(...values)));
  const high = Math.ceil(Math.log10(Math.max(...values)));
  const ticks = Array.from({ length: high - low + 1 }, (_, index) => 10 ** (low + index));
  return {
    ticks,
    position: (value) => from + ((to - from) * (Math.log10(value) - low)) / (high - low || 1),
  };
}

function roundStep(step: number): number {
  const power = 10 ** Math.floor(Math.log10(step));
  return [1, 2, 5, 10].map((factor) => factor * power).find((rounded) => rounded >= step)!;
}

function label(value: number): string {
  return value >= 1 ? value.toLocaleString("en-US") : String(value);
}

function verticalLine(x: number, text: string): string {
  const bottom = height - frame.bottom;
  return `<path class="grid" d="M${format(x)} ${frame.top}V${bottom}"/><text x="${format(x)}" y="${bottom + 20}" text-anchor="middle">${text}</text>`;
}

function horizontalLine(y: number, text: string): string {
  return `<path class="grid" d="M${frame.left} ${format(y)}H${width - frame.right}"/><text x="${frame.left - 8}" y="${format(y + 4)}" text-anchor="end">${text}</text>`;
}

function drawSeries(series: Series, index: number, xAxis: Axis, yAxis: Axis): string {
  const at = series.points.map(
    ({ x, y }) => `${format(xAxis.position(x))} ${format(yAxis.position(y))}`,
  );
  const dots =
    series.points.length > 20
      ? ""
      : at
          .map((point) => point.split(" "))
          .map(([x, y]) => `<circle class="series${index}" cx="${x}" cy="${y}" r="3.5"/>`)
          .join("");
  return `<path class="line series${index}" d="M${at.join("L")}"/>${dots}`;
}

/** Writes the name of each line at its end, and moves names apart that would overlap. */
function drawLabels(series: Series[], yAxis: Axis): string[] {
  const lines = series
    .map(({ name, points }, index) => ({ name, index, y: yAxis.position(points.at(-1)!.y) }))
    .sort((one, other) => one.y - other.y);
  for (const [index, line] of lines.entries()) {
    const above = lines[index - 1];
    if (above && line.y - above.y < 18) line.y = above.y + 18;
  }
  return lines.map(
    ({ name, index, y }) =>
      `<text class="name series${index}" x="${width - frame.right + 12}" y="${format(y + 4)}">${name}</text>`,
  );
}

function format(value: number): string {
  return value.toFixed(1);
}
