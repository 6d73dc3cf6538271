import { expect, test } from "bun:test";
import { importBesideService, probeImportOfChanges } from "./support/imports.ts";

test("an import of 1,000,000 rows is streamed, and a running service keeps responding", async () => {
  await importBesideService(1_000_000);
}, 900_000);

test("during an import that changes 1,000,000 entries turns stay below 50 ms and memory below 600 MB", async () => {
  const { turnMs, wallMs, peakMb } = await probeImportOfChanges(1_000_000);
  console.log(`longest turn ${turnMs} ms (${wallMs} ms of wall-clock time), peak ${peakMb} MB`);
  expect(turnMs).toBeLessThan(50);
  expect(peakMb).toBeLessThan(600);
}, 900_000);
