import { expect, test } from "bun:test";
import { statSync } from "node:fs";
import { openWorkspace } from "../support/process.ts";
import {
  litestreamWindowMs,
  replicaCheckIn,
  runReplicaTrial,
  type StartCopier,
  startLitestream,
  startStandIn,
} from "../support/replica-trial.ts";
import { call } from "../support/service.ts";
import { createKey, unlimited } from "../support/stocking.ts";

// A WAL checkpoint removes pages from the log, also those that Litestream has not copied yet.
for (const check of [[], ["--replica-check", "true"]]) {
  test(`an import and an update run ${check.length ? "no" : "a"} WAL checkpoint with "${check.join(" ")}"`, async () => {
    const place = openWorkspace();
    try {
      const file = place.path("data/production.db");
      const { key } = await createKey(`sqlite:${file}`, { name: "app", ...unlimited });
      const { baseUrl } = await place.serve(["serve", ...check]);
      const bytes = statSync(file).size;
      // At least a page each.
      const photoUrls = Array.from({ length: 5 }, (_, at) => `${at}`.repeat(1_000));
      const pets = Array.from({ length: 4_000 }, (_, petId) =>
        JSON.stringify({ petId, name: `Pet ${petId}`, photoUrls }),
      );
      const imported = await place.runHere(["pets", "import", "-", ...check], {
        stdin: pets.join("\n"),
      });
      expect(imported).toMatchObject({ code: 0 });
      const body = '{"quantity":1}';
      const { status } = await call(baseUrl, "PATCH", "/inventory/1", { key, body });
      expect(status).toBe(200);
      expect(statSync(file).size > bytes).toBe(check.length === 0);
    } finally {
      await place.leave();
    }
  });
}

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
