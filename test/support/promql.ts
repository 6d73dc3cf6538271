/** A use of a metric in a query, with the labels that its selector and its groupings name. */
export interface MetricUse {
  readonly name: string;
  readonly labels: readonly string[];
}

const keywords = new Set([
  "and",
  "or",
  "unless",
  "bool",
  "offset",
  "by",
  "without",
  "on",
  "ignoring",
]);

/** The metrics in a PromQL query. Enough of a parser for the dashboard and the alerts. */
export function metricsIn(query: string): MetricUse[] {
  const text = query.replaceAll(/"(?:[^"\\]|\\.)*"/g, '""');
  const groupings = [...text.matchAll(/\b(?:by|without|on|ignoring)\s*\(([^)]*)\)/g)].flatMap(
    (match) => namesIn(match[1]!),
  );
  const withoutGroupings = text
    .replaceAll(/\b(?:by|without|on|ignoring|group_left|group_right)\s*\([^)]*\)/g, " ")
    .replaceAll(/\[[^\]]*\]/g, " ");
  const pattern = /(?<![\w:$.])([a-zA-Z_:][\w:]*)\s*(\{[^}]*\})?(\s*\()?/g;
  return [...withoutGroupings.matchAll(pattern)]
    .filter(([, name, , isCall]) => !isCall && !keywords.has(name!))
    .map(([, name, selector = ""]) => ({
      name: name!,
      labels: [...namesIn(selector), ...groupings],
    }));
}

function namesIn(text: string): string[] {
  return [...text.matchAll(/[a-zA-Z_]\w*/g)].map(([name]) => name);
}
