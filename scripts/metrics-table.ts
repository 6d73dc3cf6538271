/**
 * Writes the table of metrics into docs/metrics.md, between HTML comments. With --check it writes
 * nothing and fails if the table differs from the code.
 */

import { metrics } from "../src/metrics/table.ts";

const engineNames = { sqlite: "SQLite only. ", postgres: "PostgreSQL only. " } as const;

/** The page with the table up to date. The rest of the text is unchanged. */
export function withMetricsTable(page: string): string {
  const rows = Object.values(metrics).map(({ name, kind, labels, engine, help }) => {
    const text = labels.length > 0 ? `\`${name}\` by ${labels.map(code).join(", ")}` : code(name);
    return `| ${text} | ${kind} | ${engine ? engineNames[engine] : ""}${help} |`;
  });
  const table = ["| Metric | Kind | Meaning |", "|---|---|---|", ...rows].join("\n");
  const pattern = /(<!-- metrics:start -->\n).*(<!-- metrics:end -->)/s;
  if (!pattern.test(page)) throw new Error("the page has no comments for the table of metrics");
  return page.replace(pattern, (_, start, end) => `${start}${table}\n${end}`);
}

function code(text: string): string {
  return `\`${text}\``;
}

if (import.meta.main) {
  const file = Bun.file(new URL("../docs/metrics.md", import.meta.url).pathname);
  const page = await file.text();
  const fresh = withMetricsTable(page);
  if (!process.argv.includes("--check")) await Bun.write(file, fresh);
  else if (page !== fresh) {
    console.error("the table in docs/metrics.md differs from the code; run npm run generate");
    process.exitCode = 1;
  }
}
