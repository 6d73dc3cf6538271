import { expect, test } from "bun:test";
import { importBesideService, probeImportOfChanges } from "./support/imports.ts";

test("an import of 50,000 rows streams, and a running service goes on answering", async () => {
  await importBesideService(50_000);
});

test("an import that changes every entry is followed without leaving the promised memory", async () => {
  const { peakMb } = await probeImportOfChanges(50_000);
  expect(peakMb).toBeLessThan(300);
}, 60_000);
