import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { cpSync, renameSync } from "node:fs";
import { openSlowProxy } from "../support/instances/slow-network.ts";
import { sharedPostgres } from "../support/postgres.ts";
import { createdDatabase } from "../support/postgres-template.ts";
import { openWorkspace, petstore, type Started } from "../support/process.ts";
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

// What does not depend on the engine runs on one.
describe("ledger --follow", () => {
  let place: StoreWorkspace;
  beforeEach(async () => {
    place = await openStoreWorkspace("sqlite");
    await place.importPets('{"petId":1,"name":"Rex","quantity":3}');
  });
  afterEach(() => place.leave());

  test("starts after --after, and prints a table with its titles at once", async () => {
    const follower = place.start(["ledger", "--follow", "--after", "2"]);
    await follower.wrote("seq  petId");
    await place.importPets('{"petId":2,"name":"Luna"}', '{"petId":3,"name":"Coco"}');
    await follower.wrote("import of -\n");
    follower.kill("SIGINT");
    expect(await follower.exited).toBe(0);
    const lines = follower.written().trimEnd().split("\n");
    expect(lines).toHaveLength(2);
    expect(lines[1]).toMatch(/^ *3 +3 +- +0 available/);
  });

  test("prints a long ledger before new rows", async () => {
    const many = upTo(3_000, 2).map((petId) => `{"petId":${petId},"name":"x"}`);
    await place.importPets(...many);
    const follower = place.start(["ledger", "--follow", "--json"]);
    await place.importPets('{"petId":9999,"name":"Luna"}');
    await follower.wrote('"seq":3001,');
    follower.kill("SIGTERM");
    expect(await follower.exited).toBe(0);
    expect(seqsOf(follower)).toEqual(upTo(3_001));
  });

  test("a signal ends it although its reader has stopped reading", async () => {
    const many = upTo(2_000, 2).map((petId) => `{"petId":${petId},"name":"x"}`);
    await place.importPets(...many);
    // The first page is larger than the buffer of a pipe.
    const script = `("$0" ledger --follow & echo "id=$!" >&2; wait $!; echo "code $?" >&2) |
      sh -c 'echo "reader=$$" >&2; head -c 8 >&2; exec sleep 600'`;
    const shell = place.start(["-c", script, petstore], { command: ["sh"] });
    await shell.wrote("seq");
    const idOf = (name: string) => Number(new RegExp(`${name}=(\\d+)`).exec(shell.written())![1]);
    process.kill(idOf("id"), "SIGTERM");
    await shell.wrote("code 0");
    process.kill(idOf("reader"), "SIGKILL");
    await shell.exited;
  });
});

test("ledger --follow survives the loss of PostgreSQL and says so once", async () => {
  const server = await sharedPostgres();
  const proxy = openSlowProxy(server.port, () => 0);
  const database = await createdDatabase();
  const place = openWorkspace({ DATABASE_URL: database });
  try {
    const add = (petId: number) =>
      place.runHere(["pets", "import", "-"], { stdin: `{"petId":${petId},"name":"x"}` });
    await add(1);
    const behindProxy = new URL(database);
    behindProxy.port = String(proxy.port);
    const env = { DATABASE_URL: behindProxy.href };
    const follower = place.start(["ledger", "--follow", "--json"], { env });
    await follower.wrote('"seq":1,');
    // No server listens on this port.
    proxy.redirect(1);
    proxy.cut();
    await follower.wrote("petstore: the store cannot be read; the command keeps trying\n");
    await add(2);
    proxy.redirect(server.port);
    await follower.wrote("petstore: the store can be read again\n");
    await follower.wrote('"seq":2,');
    follower.kill("SIGINT");
    expect(await follower.exited).toBe(0);
    expect(seqsOf(follower)).toEqual([1, 2]);
    expect(follower.written().match(/cannot be read/g)).toHaveLength(1);
  } finally {
    await place.leave();
    proxy.close();
  }
});

test("ledger --follow ends when a backup replaces a SQLite store, and leaves the backup alone", async () => {
  const place = await openStoreWorkspace("sqlite");
  try {
    await place.importPets('{"petId":1,"name":"Rex","quantity":3}');
    const file = place.path("data/production.db");
    cpSync(file, place.path("backup.db"));
    const follower = place.start(["ledger", "--follow", "--json"]);
    await follower.wrote('"seq":1,');
    await place.importPets('{"petId":1,"quantity":4}');
    await follower.wrote('"seq":2,');
    for (const name of ["", "-wal", "-shm", "-changes"]) {
      renameSync(file + name, `${file}-old${name}`);
    }
    cpSync(place.path("backup.db"), file);
    expect(await follower.exited).toBe(2);
    expect(follower.written()).toContain(
      "petstore: the store was replaced by another one or by a backup; start the command again\n",
    );
    expect(await place.rows("ledger")).toHaveLength(1);
    expect((await place.runHere(["verify"])).code).toBe(0);
  } finally {
    await place.leave();
  }
});
