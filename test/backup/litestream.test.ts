import { expect, test } from "bun:test";
import { runReplicaTrial, socketIn, startLitestream, startStandIn } from "../support/replica-trial.ts";

/** What docs/litestream.md says is lost at most. */
const windowMs = 5_000;

test("a store of which only a copy of the database is left opens, verifies and serves, with every update that was copied", async () => {
  // The stand-in promises no window, only its syncs.
  await runReplicaTrial(startStandIn, Number.POSITIVE_INFINITY);
});

test.skipIf(!Bun.which("litestream"))(
  "a lost machine loses nothing older than the window, and is restored to a row and to a time (needs litestream)",
  () =>
    runReplicaTrial(
      async (place, database, folder) => {
        const copier = await startLitestream(place, database, folder);
        const doctor = ["doctor", "--json", "--port", "0", "--database", `sqlite:${database}`];
        const check = ["--replica-check", `unix:${socketIn(place)}`];
        const { out } = await place.runHere([...doctor, ...check]);
        const { checks } = JSON.parse(out) as { checks: { name: string }[] };
        expect(checks.find(({ name }) => name === "replica")).toMatchObject({ result: "ok" });
        return copier;
      },
      windowMs,
      (place) => ["serve", "--replica-check", `unix:${socketIn(place)}`],
    ),
  180_000,
);
