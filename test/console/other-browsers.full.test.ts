import { expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { otherBrowsers } from "../support/browser.ts";

/** What people do in a day, which every browser has to do. */
const flows = [
  ...["barcodes.full", "counting.full", "counting-open-shop.full", "delivery.full", "find.full"],
  ...["import.full", "keys.full", "low-stock.full", "operator-views", "roles.full"],
  ...["stock", "stock.full", "undo.full"],
].map((name) => new URL(`./${name}.test.ts`, import.meta.url).pathname);

for (const type of otherBrowsers) {
  const name = type.name();
  const isMissing = !existsSync(type.executablePath());
  test.skipIf(isMissing)(
    `the work of a day (needs ${name})`,
    async () => {
      const run = Bun.spawn([process.execPath, "test", "--timeout", "300000", ...flows], {
        env: { ...process.env, TEST_BROWSER: name },
        stdout: "inherit",
        stderr: "inherit",
      });
      expect(await run.exited).toBe(0);
    },
    1_800_000,
  );
}
