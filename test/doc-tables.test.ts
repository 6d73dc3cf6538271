import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { docTables, withTables } from "../scripts/doc-tables.ts";

for (const path of Object.keys(docTables)) {
  const page = readFileSync(path, "utf8");

  test(`the tables in ${path} are generated from the code, and the rest of the page is not changed`, () => {
    expect(withTables(path, page)).toBe(page);
    // Without the last line of its last table.
    const changed = page.replace(/\n[^\n]+(\n\n<!-- [\w ]+:end -->)(?!.*:end -->)/s, "$1");
    expect(changed).not.toBe(page);
    expect(withTables(path, changed)).toBe(page);
    expect(() => withTables(path, "# Page\n")).toThrow(`${path} has no comments for the table of`);
  });
}
