import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readReport } from "./support/test-report.ts";

const folder = mkdtempSync(join(tmpdir(), "petstore-report-"));
afterAll(() => rmSync(folder, { recursive: true }));

/** Its name does not end as the names of tests do, so that no other run finds it. */
const sample = join(folder, "sample.ts");
const title = `a < b > "c" & 'd'`;

test("a report has every test of a run, and whether it passed, failed or was skipped", async () => {
  writeFileSync(
    sample,
    `import { beforeAll, describe, expect, test } from "bun:test";
    test(${JSON.stringify(title)}, () => {});
    test("a failure", () => expect("<testcase />").toBe(""));
    describe["skip"]("on a moon", () => {
      beforeAll(() => {});
      test(${JSON.stringify(title)}, () => {});
    });
    describe("some", () => {
      test("of a block", () => {});
      test("with an error", () => { throw new Error("broken"); });
    });`,
  );
  const path = join(folder, "report.xml");
  const flags = ["--reporter=junit", `--reporter-outfile=${path}`];
  const child = Bun.spawn([process.execPath, "test", ...flags, sample], {
    cwd: folder,
    stdio: ["ignore", "ignore", "ignore"],
  });
  expect(await child.exited).toBe(1);
  expect(readReport(path)).toEqual({
    files: [{ name: "sample.ts", seconds: expect.any(Number) }],
    passed: 2,
    failed: 2,
    skipped: [`sample.ts > on a moon > ${title}`],
  });
});

test("a run that ended before it wrote a report has run nothing", () => {
  const nothing = { files: [], passed: 0, failed: 0, skipped: [] };
  expect(readReport(join(folder, "none.xml"))).toEqual(nothing);
});
