import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { enterLoadedPlace } from "./support/crashes.ts";
import { readiness } from "./support/damage.ts";
import { verifyStore } from "./support/stocking.ts";

test("imports, WAL checkpoints, readers, VACUUM and backups are not reported as damage", async () => {
  const loaded = await enterLoadedPlace();
  const { place, database } = loaded;
  await using stack = new AsyncDisposableStack();
  stack.defer(() => place.leave());
  const file = place.path("data/production.db");
  const updating = loaded.clients.slice(0, 4);
  const expectSound = async () => expect((await verifyStore(database)).faults).toEqual([]);
  const service = await place.serve();
  let busy = true;
  const steady = updating.map(async (client) => {
    while (busy) expect(await loaded.update(service, client)).toBe(200);
  });
  const reader = new Database(file);
  const tool = new Database(file);
  tool.run("PRAGMA busy_timeout = 5000");
  const rows = Array.from({ length: 500 }, (_, at) => `{"petId":${at + 100},"name":"Pet"}`);
  for (let round = 0; round < 2; round++) {
    const stdin = rows.map((row) => row.replace("Pet", `Pet ${round}`)).join("\n");
    // A WAL checkpoint stops for this reader and leaves some pages older than others.
    reader.run("BEGIN");
    reader.query("SELECT count(*) FROM ledger").get();
    const imported = await place.runHere(["pets", "import", "-"], { stdin });
    expect(imported).toMatchObject({ code: 0, err: "" });
    tool.run("PRAGMA wal_checkpoint(PASSIVE)");
    for (const client of updating) expect(await loaded.update(service, client)).toBe(200);
    reader.run("COMMIT");
    for (const mode of ["PASSIVE", "RESTART", "TRUNCATE"]) {
      tool.run(`PRAGMA wal_checkpoint(${mode})`);
      expect(await readiness(service)).toBe(200);
    }
    tool.run("VACUUM");
    tool.run(`VACUUM INTO '${file}.backup${round}'`);
    await expectSound();
  }
  tool.close();
  reader.close();
  busy = false;
  await Promise.all(steady);
  expect(await readiness(service)).toBe(200);
  expect(service.written()).not.toContain("damaged");
  service.kill("SIGKILL");
  await service.exited;
  await expectSound();
});
