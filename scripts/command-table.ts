/**
 * Writes the tables of commands and exit codes into docs/commands.md, between HTML comments. With
 * --check it writes nothing and fails if a table differs from the code.
 */

import { topics } from "../src/cli/command.ts";
import { commands } from "../src/cli/commands.ts";
import { exitCodes } from "../src/cli/exit-codes.ts";
import { synopsisOf } from "../src/cli/help.ts";

/** The pages that describe a command in more detail. */
const links: Readonly<Record<string, string>> = {
  history: "See [history.md](history.md).",
  verify: "See [Verify a store](backup.md#verify-a-store).",
  "migrate-store": "See [scaling.md](scaling.md#move-to-postgresql).",
  config: "See [configuration.md](configuration.md).",
};

/** The page with the tables up to date. The rest of the text is unchanged. */
export function withTables(page: string): string {
  const codes = table(["Exit code", "Meaning"], exitCodes);
  return replaceTable(replaceTable(page, "commands", commandTables()), "exit codes", codes);
}

function commandTables(): string {
  const parts = Object.entries(topics).map(([topic, title]) => {
    const rows = commands
      .filter((command) => command.topic === topic)
      .map((command) => [
        code(synopsisOf(command)),
        [command.summary, links[command.name]].filter(Boolean).join(" "),
      ]);
    return `### ${title}\n\n${table(["Command", "Description"], rows)}\n`;
  });
  return `\n${parts.join("\n")}`;
}

function table(header: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`;
  return [line(header), `|${"---|".repeat(header.length)}`, ...rows.map(line)].join("\n");
}

function code(text: string): string {
  return `\`${text}\``;
}

function replaceTable(page: string, name: string, content: string): string {
  const pattern = new RegExp(`(<!-- ${name}:start -->\n).*(<!-- ${name}:end -->)`, "s");
  if (!pattern.test(page)) throw new Error(`the page has no comments for the table of ${name}`);
  return page.replace(pattern, (_, start, end) => `${start}${content}\n${end}`);
}

if (import.meta.main) {
  const file = Bun.file(new URL("../docs/commands.md", import.meta.url).pathname);
  const page = await file.text();
  const fresh = withTables(page);
  if (!process.argv.includes("--check")) await Bun.write(file, fresh);
  else if (page !== fresh) {
    console.error("a table in docs/commands.md differs from the code; run npm run generate");
    process.exitCode = 1;
  }
}
