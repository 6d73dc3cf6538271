import { describe, test } from "bun:test";
import { replaySequences } from "../support/properties/ledger-trial.ts";
import { surfaceEngine } from "../support/service.ts";

describe.each([surfaceEngine])("the ledger on %s", (engine) => {
  test("after any sequence of operations the replayed ledger is the inventory", async () => {
    await replaySequences(engine, engine === "sqlite" ? 3 : 1);
  });
});
