import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";

/** The rules about quantities and scans that a new field of the console must keep. */

const ours = [...new Bun.Glob("src/console/**/*.{ts,tsx}").scanSync()].sort();
const using = (pattern: RegExp) => ours.filter((path) => pattern.test(readFileSync(path, "utf8")));

/** Where the console makes numbers of texts, each with the reason. None of these is a quantity that is stored. */
const numbersOfTexts: Record<string, string> = {
  "src/console/charts/readout.tsx": "the place of a slider over numbers that are only shown",
  "src/console/client/retries.ts": "seconds in a header",
  "src/console/history/moment-rows.ts": "the number of a row in an address",
  "src/console/import/results.tsx": "the stock that a file would replace",
  "src/console/keys/key-form.tsx": "limits and days of a key",
  "src/console/parts/issue-dialog.tsx": "a choice of hours",
  "src/console/stock/counting.ts": "the number of a row in a position",
  "src/console/stock/delivery-lines.ts":
    "amounts, which the reader asks about when they are recorded",
  "src/console/stock/quantities.ts": "what the reader uses",
  "src/console/stock/quantity-reader.tsx": "the reader",
  "src/console/stock/table.ts": "ids, to sort them",
  "src/console/webhooks/dialogs.tsx": "the number of a row",
  "src/console/webhooks/view.tsx": "a threshold, which changes no stock",
};

test("whoever types a quantity into the console is asked about a doubtful one: one place reads them", () => {
  expect(using(/\b(?:Number|parseInt|parseFloat|BigInt)\(|valueAsNumber/)).toEqual(
    Object.keys(numbersOfTexts),
  );
  // What is typed into a delivery becomes amounts, which the reader asks about when they are recorded.
  const readers = ["src/console/stock/quantities.ts", "src/console/stock/quantity-reader.tsx"];
  expect(using(/\b(?:parseQuantity|parseDelta|isDoubtful)\b/)).toEqual(readers);
});

test("one place of the console knows what a scan is", () => {
  expect(using(/\btimeStamp\b/)).toEqual(["src/console/parts/scans.ts"]);
});
