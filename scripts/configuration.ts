/**
 * Writes the tables of settings into docs/configuration.md, between HTML comments. With --check it
 * writes nothing and fails if a table differs from the code.
 */

import type { Setting } from "../src/settings/setting.ts";
import { settingGroups } from "../src/settings.ts";

/** The page with the tables up to date. The rest of the text is unchanged. */
export function withSettings(page: string): string {
  const pattern = /(<!-- settings:start -->\n).*(<!-- settings:end -->)/s;
  if (!pattern.test(page)) throw new Error("the page has no comments for the table of settings");
  const groups = settingGroups.map(
    ({ title, settings }) => `### ${title}\n\n${table(Object.values(settings))}\n`,
  );
  return page.replace(pattern, (_, start, end) => `${start}\n${groups.join("\n")}\n${end}`);
}

function table(settings: readonly Setting<unknown>[]): string {
  const rows = settings.map(({ flag, variable, default: initial, unit, description }) => [
    code(`--${flag}`),
    code(variable),
    initial === "" ? "none" : code(initial),
    unit ?? "",
    description,
  ]);
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`.replaceAll("|  |", "| |");
  const header = ["Flag", "Variable", "Default", "Unit", "Description"];
  return [line(header), `|${"---|".repeat(header.length)}`, ...rows.map(line)].join("\n");
}

function code(text: string): string {
  return `\`${text}\``;
}

if (import.meta.main) {
  const file = Bun.file(new URL("../docs/configuration.md", import.meta.url).pathname);
  const page = await file.text();
  const fresh = withSettings(page);
  if (!process.argv.includes("--check")) await Bun.write(file, fresh);
  else if (page !== fresh) {
    console.error("a table in docs/configuration.md differs from the code; run npm run generate");
    process.exitCode = 1;
  }
}
