import { expect, test } from "bun:test";
import { commandImport } from "../src/domain/catalogue/import-preview.ts";
import { findOutcome } from "../src/domain/requests/outcomes.ts";
import { createRequestRecorder } from "../src/domain/requests/recorder.ts";
import { petRow } from "./support/pets.ts";
import { startTestService } from "./support/service.ts";

/** As many rows as one question searches. */
const rowsSearched = 100_000;

async function* pets(count: number) {
  yield Array.from({ length: count }, (_, at) => petRow({ petId: BigInt(at + 1) }));
}

test("an update that got an error has only failed if all rows since then were searched", async () => {
  const service = await startTestService();
  const { store, clock } = service;
  const { id: keyId, text: key } = await service.issueKey();
  const recorder = createRequestRecorder(
    store,
    clock,
    () => 0,
    () => {},
  );
  /** What became of a request that arrived when the ledger was empty, and got a 500. */
  async function outcomeOf(requestId: string): Promise<string> {
    const error = { method: "PATCH", path: "", status: 500, code: "internal_error" } as const;
    const described = { ...error, message: "", durationMs: 0, userAgent: null };
    recorder.record(keyId, error.code, () => ({
      ...{ requestId, startedMs: performance.now() },
      error: described,
    }));
    return (await findOutcome({ store, requests: recorder }, requestId, keyId)).outcome;
  }
  async function update(): Promise<string> {
    const body = '{"quantity":5}';
    const { headers } = await service.call("PATCH", "/inventory/1", { key, body });
    return headers.get("x-request-id")!;
  }
  await store.catalogue.importPets(pets(rowsSearched - 1), commandImport("test"));
  // The row of the first is the last one that is searched. That of the second lies behind it.
  const first = await update();
  expect(await outcomeOf("req_none")).toBe("failed");
  expect(await outcomeOf(first)).toBe("stored");
  const second = await update();
  expect(await outcomeOf(second)).toBe("unknown");
  expect(await outcomeOf("req_none")).toBe("unknown");
  await recorder.stop();
  await service.stop();
});
