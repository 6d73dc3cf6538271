import { expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";

/**
 * docs/conformance.md names the test of every clause. This test fails for a clause without a test,
 * a test without a clause, and a title that differs.
 */

const folder = "test/conformance";
const sources = readdirSync(folder)
  .filter((name) => name.endsWith(".test.ts"))
  .map((name) => `${folder}/${name}`)
  .concat("test/hostile.test.ts", "test/damaged-ledger.test.ts", "test/slow-readers.full.test.ts");

const clause = "[a-z]+\\.[a-z0-9-]+";

function titlesInTests(): string[] {
  const title = new RegExp(`"(\\[${clause}\\] [^"]+)"`, "g");
  const found = sources.flatMap((path) =>
    [...readFileSync(path, "utf8").matchAll(title)].map((match) => match[1]!),
  );
  return [...new Set(found)].sort();
}

/** A row is `| limits.3 | requirement | behaviour | title |`, with the id in code marks. */
function titlesInDocument(): string[] {
  const row = new RegExp(`^\\| \`(${clause})\` +\\|[^|]+\\|[^|]+\\| ([^|]+?) +\\|$`, "gm");
  const text = readFileSync("docs/conformance.md", "utf8");
  return [...text.matchAll(row)].map((match) => `[${match[1]}] ${match[2]}`).sort();
}

test("every clause in docs/conformance.md has the test it names, and every such test is listed", () => {
  expect(titlesInDocument()).toEqual(titlesInTests());
});

test("no clause is listed twice", () => {
  const ids = titlesInDocument().map((title) => title.slice(0, title.indexOf("]")));
  expect(ids.filter((id, at) => ids.indexOf(id) !== at)).toEqual([]);
});

test("every row of the document's tables can be read", () => {
  const lines = readFileSync("docs/conformance.md", "utf8").split("\n");
  const rows = lines.filter((line) => line.startsWith("| `"));
  expect(rows).toHaveLength(titlesInDocument().length);
});
