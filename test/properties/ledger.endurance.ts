import { test } from "bun:test";
import { replaySequences } from "../support/properties/ledger-trial.ts";
import { engines } from "../support/service.ts";

test.each(engines)(
  "on %s the replayed ledger is the inventory after any of 100 sequences of operations",
  async (engine) => {
    await replaySequences(engine, 100);
  },
  600_000,
);
