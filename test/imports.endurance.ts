import { expect, test } from "bun:test";
import { importBesideService, probeImportOfChanges } from "./support/imports.ts";

test("an import of 1,000,000 rows streams, and a running service goes on answering", async () => {
  await importBesideService(1_000_000);
}, 900_000);

test("an import that changes 1,000,000 entries takes no turn over 50 ms and 600 MB at most", async () => {
  const { turnMs, wallMs, peakMb } = await probeImportOfChanges(1_000_000);
  console.log(`longest turn ${turnMs} ms (${wallMs} ms by the clock), peak ${peakMb} MB`);
  expect(turnMs).toBeLessThan(50);
  expect(peakMb).toBeLessThan(600);
}, 900_000);
