import { expect, test } from "bun:test";
import { importBesideService, probeImportOfChanges } from "./support/imports.ts";

test("an import of 50,000 rows is streamed, and a running service keeps responding", async () => {
  await importBesideService(50_000);
});

test("a service under an import that changes every entry stays below 300 MB", async () => {
  const { peakMb } = await probeImportOfChanges(50_000);
  expect(peakMb).toBeLessThan(300);
}, 60_000);
