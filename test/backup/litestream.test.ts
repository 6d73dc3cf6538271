import { expect, test } from "bun:test";
import {
  litestreamWindowMs,
  replicaCheckIn,
  runReplicaTrial,
  type StartCopier,
  startLitestream,
  startStandIn,
} from "../support/replica-trial.ts";

test("a store of which only a copy of the database is left opens, verifies and serves, with every update that was copied", async () => {
  // The stand-in promises no window, only its syncs.
  await runReplicaTrial(startStandIn, Number.POSITIVE_INFINITY);
});

const startAndCheck: StartCopier = async (place, database) => {
  const replica = async () => {
    const words = ["doctor", "--json", "--port", "0", "--database", `sqlite:${database}`];
    const { out } = await place.runHere([
      ...words,
      "--replica-check",
      replicaCheckIn(place, database),
    ]);
    const { checks } = JSON.parse(out) as { checks: { name: string; result: string }[] };
    return checks.find(({ name }) => name === "replica")?.result;
  };
  expect(await replica()).toBe("problem");
  const copier = await startLitestream(place, database);
  expect(await replica()).toBe("ok");
  return copier;
};

test.skipIf(!Bun.which("litestream"))(
  "a lost machine loses nothing older than the window, and is restored to a row and to a time (needs litestream)",
  () => runReplicaTrial(startAndCheck, litestreamWindowMs),
  180_000,
);
