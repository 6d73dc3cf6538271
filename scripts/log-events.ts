/**
 * Writes the table of log events into docs/logs.md, between HTML comments. With --check it writes
 * nothing and fails if the table differs from the code.
 */

import { type EventKind, events } from "../src/domain/events.ts";

/** The page with the table up to date. The rest of the text is unchanged. */
export function withEvents(page: string): string {
  const pattern = /(<!-- events:start -->\n).*(<!-- events:end -->)/s;
  if (!pattern.test(page)) throw new Error("the page has no comments for the table of events");
  return page.replace(pattern, (_, start, end) => `${start}\n${table()}\n\n${end}`);
}

function table(): string {
  const rows = Object.entries<EventKind>(events).map(([event, { level, meaning, action }]) => [
    `\`${event}\``,
    level,
    meaning,
    action ?? "",
  ]);
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`.replaceAll("|  |", "| |");
  const header = ["Event", "Level", "Meaning", "What to do"];
  return [line(header), `|${"---|".repeat(header.length)}`, ...rows.map(line)].join("\n");
}

if (import.meta.main) {
  const file = Bun.file(new URL("../docs/logs.md", import.meta.url).pathname);
  const page = await file.text();
  const fresh = withEvents(page);
  if (!process.argv.includes("--check")) await Bun.write(file, fresh);
  else if (page !== fresh) {
    console.error("the table in docs/logs.md differs from the code; run npm run generate");
    process.exitCode = 1;
  }
}
