import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import type { Started } from "../support/process.ts";
import { call, startTestService, surfaceEngine } from "../support/service.ts";
import { openStoreWorkspace, type StoreWorkspace } from "../support/workspaces.ts";

/** The numbers of the rows that a command with --json has printed so far. */
function seqsOf(follower: Started): number[] {
  const lines = follower
    .written()
    .split("\n")
    .filter((line) => line.startsWith("{"));
  return lines.map((line) => (JSON.parse(line) as { seq: number }).seq);
}

const upTo = (seq: number, from = 1) =>
  Array.from({ length: seq - from + 1 }, (_, at) => from + at);

for (const engine of [surfaceEngine]) {
  describe(`ledger --follow on ${engine}`, () => {
    let place: StoreWorkspace;
    beforeEach(async () => {
      place = await openStoreWorkspace(engine);
      await place.importPets('{"petId":1,"name":"Rex","quantity":3}');
    });
    afterEach(() => place.leave());

    test("prints every row once, by whichever process it was stored", async () => {
      const { key } = await place.createKey("till");
      const follower = place.start(["ledger", "--follow", "--json"]);
      await follower.wrote('"seq":1,');
      const update = async (baseUrl: string, quantity: number) => {
        const body = JSON.stringify({ quantity });
        expect((await call(baseUrl, "PATCH", "/inventory/1", { key, body })).status).toBe(200);
      };
      const serve = () => startTestService(engine, { database: place.database });
      const first = await serve();
      await update(first.baseUrl, 4);
      await follower.wrote('"seq":2,');
      await place.importPets('{"petId":2,"name":"Luna"}');
      await follower.wrote('"seq":3,');
      await place.runHere(["undo", "2"]);
      await follower.wrote('"seq":4,');
      let last = first;
      if (engine === "sqlite") {
        // Every start of a service begins an epoch on SQLite. Rows are followed by their number.
        await first.stop();
        last = await serve();
      }
      await Promise.all(upTo(50).map((quantity) => update(last.baseUrl, quantity)));
      await follower.wrote('"seq":54,');
      follower.kill("SIGTERM");
      expect(await follower.exited).toBe(0);
      expect(seqsOf(follower)).toEqual(upTo(54));
      await last.stop();
    });
  });
}
