import type { Metric } from "./metric.ts";
import type { Exposed, Family, HistogramState } from "./registry.ts";

/** The Prometheus text format, version 0.0.4. */
export const expositionType = "text/plain; version=0.0.4; charset=utf-8";

export function expose(families: readonly Family[]): string {
  const lines: string[] = [];
  for (const { metric, series } of families) {
    lines.push(`# HELP ${metric.name} ${escapeHelp(metric.help)}`);
    lines.push(`# TYPE ${metric.name} ${metric.kind}`);
    for (const [labels, exposed] of series) pushSeries(lines, metric, labels, exposed);
  }
  return `${lines.join("\n")}\n`;
}

function pushSeries(lines: string[], metric: Metric, labels: string, exposed: Exposed): void {
  if ("counts" in exposed) pushHistogram(lines, metric, labels, exposed);
  else if (exposed.value !== undefined) {
    lines.push(`${metric.name}${inBraces(labels)} ${numberText(exposed.value)}`);
  }
}

function pushHistogram(
  lines: string[],
  { name, bounds }: Metric,
  labels: string,
  { counts, sum }: HistogramState,
): void {
  let total = 0;
  for (const [bucket, count] of counts.entries()) {
    total += count;
    const bound = `le="${numberText(bounds[bucket] ?? Infinity)}"`;
    lines.push(`${name}_bucket{${labels === "" ? bound : `${labels},${bound}`}} ${total}`);
  }
  lines.push(`${name}_sum${inBraces(labels)} ${numberText(sum)}`);
  lines.push(`${name}_count${inBraces(labels)} ${total}`);
}

function inBraces(labels: string): string {
  return labels === "" ? "" : `{${labels}}`;
}

function numberText(value: number): string {
  if (value === Infinity) return "+Inf";
  return value === -Infinity ? "-Inf" : String(value);
}

function escapeHelp(text: string): string {
  return text.replaceAll("\\", "\\\\").replaceAll("\n", "\\n");
}
