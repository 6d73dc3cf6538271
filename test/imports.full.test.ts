import { expect, test } from "bun:test";
import { importBesideService, probeImportOfChanges } from "./support/imports.ts";

test("a running service keeps responding during an import of 10,000 rows, which takes below 200 MB", async () => {
  await importBesideService(10_000);
});

test("a service under an import that changes all of 10,000 entries stays below 180 MB", async () => {
  const { peakMb } = await probeImportOfChanges(10_000);
  expect(peakMb).toBeLessThan(180);
});
