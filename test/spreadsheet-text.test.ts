import { expect, test } from "bun:test";
import { neutralised, original } from "../src/domain/values/spreadsheet-text.ts";

test("no text begins like a formula, and every text is read back unchanged", () => {
  const starts = ["", "'", "''", "=", "+", "-", "@", "\t", "\r", " ", "a", "'=", "''@", "'a", "='"];
  for (const text of starts.flatMap((start) => [start, `${start}1`, `${start}'`])) {
    const written = neutralised(text);
    expect(written).not.toMatch(/^[=+\-@\t\r]/);
    expect(original(written)).toBe(text);
  }
  // A plain apostrophe is not touched.
  expect([neutralised("'s"), original("'s")]).toEqual(["'s", "'s"]);
});
