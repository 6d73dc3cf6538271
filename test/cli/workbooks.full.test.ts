import { expect, test } from "bun:test";
import { readWorkbook, workbook } from "../support/workbooks.ts";

test("a workbook with a part of many megabytes is refused with a reason", async () => {
  const cases: [file: Uint8Array, problem: string][] = [
    [
      workbook(
        { One: [["petId"]] },
        { "xl/sharedStrings.xml": Buffer.alloc(65 * 1_048_576, `<si><t>${"x".repeat(10_000)}`) },
      ),
      "1: the workbook, or a part of it, has more than 64 MiB",
    ],
    [
      workbook(
        { One: [["petId"]] },
        { "xl/sharedStrings.xml": Buffer.alloc(65 * 1_048_576, `<si>${"x".repeat(991)}</si>`) },
      ),
      "1: the workbook, or a part of it, has more than 64 MiB",
    ],
    [
      workbook({ One: [["petId"]] }, { "xl/sharedStrings.xml": "<si/>".repeat(2_000_001) }),
      "1: the workbook has more than 2000000 texts",
    ],
    // Each of these would take hours if it was searched from every place.
    [
      workbook(
        { One: [["petId"], [1]] },
        { "xl/sharedStrings.xml": `<si>${"<rPh".repeat(400_000)}</si>` },
      ),
      "1: xl/sharedStrings.xml has a tag or text of more than 400000 characters",
    ],
    [
      workbook(
        { One: [["x"]] },
        { "xl/styles.xml": `<numFmt formatCode="${"[".repeat(1_900_000)}"/>` },
      ),
      "1: xl/styles.xml has a tag or text of more than 400000 characters",
    ],
  ];
  // Below the bound, they still take no time.
  const brackets = `<numFmt formatCode="${"[".repeat(390_000)}"/>`;
  cases.push([workbook({ One: [["x"]] }, { "xl/styles.xml": brackets }), "1: unknown column 'x'"]);
  for (const [file, problem] of cases) {
    expect((await readWorkbook(file)).problems.join("\n")).toContain(problem);
  }
});
