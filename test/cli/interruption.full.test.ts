import { afterAll, describe, expect, test } from "bun:test";
import { readdirSync, writeFileSync } from "node:fs";
import { SQL } from "bun";
import { sharedPostgres } from "../support/postgres.ts";
import { createdDatabase } from "../support/postgres-template.ts";
import { openWorkspace, petstore, type Started, signalUntilEnd } from "../support/process.ts";
import { until } from "../support/until.ts";
import { openStoreWorkspace } from "../support/workspaces.ts";

test("SIGINT ends a reading command quietly, and the next import works", async () => {
  const place = await openStoreWorkspace("sqlite");
  try {
    const many = Array.from({ length: 3_000 }, (_, at) => `{"petId":${at + 2},"name":"x"}`);
    await place.importPets(...many);
    // The reader stops reading, so the command is waiting when the signal arrives.
    const script = `mkfifo out
  "$0" ledger > out & id=$!
  exec 9< out; head -c 100 <&9 > /dev/null
  kill -INT $id; wait $id; echo "code $?"`;
    const ran = place.start(["-c", script, petstore], { command: ["bash"] });
    expect(await ran.exited).toBe(0);
    expect(ran.written()).toBe("code 130\n");
  } finally {
    await place.leave();
  }
});

describe("a signal while the store is busy", async () => {
  const url = await createdDatabase();
  const place = openWorkspace({ DATABASE_URL: url });
  const blocker = new SQL(url, { max: 1 });
  afterAll(async () => {
    await blocker.close();
    await place.leave();
  });

  /** Runs `work` while the statement's locks are held. */
  async function whileLocked(statement: string, work: () => Promise<void>): Promise<void> {
    await blocker.unsafe("BEGIN");
    await blocker.unsafe(statement);
    try {
      await work();
    } finally {
      await blocker.unsafe("ROLLBACK");
    }
  }

  const lockAwaited = () => lockAwaitedBy(blocker);

  test("a change that has begun is stored, and the exit code tells of the signal", async () => {
    let command: Started | undefined;
    await whileLocked("LOCK TABLE keys IN EXCLUSIVE MODE", async () => {
      command = place.start(["keys", "create", "--name", "a", "--plan", "free"]);
      await lockAwaited();
      command.kill("SIGINT");
      await command.wrote("the change is being stored");
    });
    expect(await command?.exited).toBe(130);
    expect(command?.written()).toContain("The key is shown only once");
    expect(await place.json<unknown[]>("keys", "list")).toHaveLength(1);
  });

  test("a second signal ends the command without an answer, which it says", async () => {
    await whileLocked("LOCK TABLE keys IN EXCLUSIVE MODE", async () => {
      const command = place.start(["keys", "create", "--name", "b", "--plan", "free"]);
      await lockAwaited();
      command.kill("SIGINT");
      await command.wrote("the change is being stored");
      expect(await signalUntilEnd(command, "SIGINT")).toBe(130);
      expect(command.written()).toEndWith("interrupted; the change may have been stored\n");
    });
  });

  test("an import that has created its store is finished, so that no empty store is left", async () => {
    const fresh = await (await sharedPostgres()).freshDatabase();
    await using held = await holdTemporaryTables(fresh);
    writeFileSync(place.path("pets.ndjson"), '{"petId":1,"name":"Rex"}\n');
    const command = place.start(["pets", "import", "pets.ndjson", "--database", fresh]);
    await command.wrote("created the store");
    await held.awaited();
    command.kill("SIGINT");
    await command.wrote("the change is being stored");
    await held.release();
    expect(await command.exited).toBe(130);
    expect(command.written()).toContain("Imported pets: 1 created");
    expect(command.written()).not.toContain("interrupted");
    const exported = await place.runHere(["pets", "export", "-", "--database", fresh]);
    expect(exported.out).toContain('"name":"Rex"');
  });

  test("a copy that has created its target and nothing more says that the target is empty", async () => {
    await whileLocked("LOCK TABLE pets IN ACCESS EXCLUSIVE MODE", async () => {
      const command = place.start(["migrate-store", "--from", url, "--to", "sqlite:./copy.db"]);
      await lockAwaited();
      command.kill("SIGINT");
      expect(await command.exited).toBe(130);
      expect(command.written()).toBe(
        `petstore: created the store ${place.path("copy.db")}\npetstore: interrupted, the new store is empty\n`,
      );
    });
    const pets = await place.runHere(["pets", "export", "-", "--database", "sqlite:./copy.db"]);
    expect(pets).toEqual({ code: 0, out: "", err: "" });
  });

  test("an export leaves no temporary file", async () => {
    await whileLocked("LOCK TABLE pets IN ACCESS EXCLUSIVE MODE", async () => {
      const command = place.start(["pets", "export", "pets.csv"]);
      await lockAwaited();
      const isOurs = (name: string) => name.includes("pets.csv");
      expect(readdirSync(place.folder).filter(isOurs)).toHaveLength(1);
      command.kill("SIGTERM");
      expect(await command.exited).toBe(143);
      expect(readdirSync(place.folder).filter(isOurs)).toEqual([]);
      expect(command.written()).toBe("");
    });
  });
});

/** Resolves when a statement of another session waits for a lock in the same database. */
async function lockAwaitedBy(session: SQL): Promise<void> {
  const waiting = `SELECT FROM pg_locks WHERE NOT granted AND database =
    (SELECT oid FROM pg_database WHERE datname = current_database())`;
  const isWaiting = async () => (await session.unsafe(waiting)).length > 0;
  await until(isWaiting, 10_000, "a statement that waits for a lock");
}

/** Lets every session of a database wait where it creates a temporary table, as an import does first. */
async function holdTemporaryTables(url: string) {
  const session = new SQL(url, { max: 1 });
  await session.unsafe(`CREATE FUNCTION wait_for_test() RETURNS event_trigger LANGUAGE plpgsql AS $$
    BEGIN
      PERFORM pg_advisory_xact_lock_shared(1) FROM pg_event_trigger_ddl_commands() AS made
      WHERE made.schema_name = 'pg_temp';
    END $$`);
  await session.unsafe(`CREATE EVENT TRIGGER wait_for_test ON ddl_command_end
    WHEN TAG IN ('CREATE TABLE') EXECUTE FUNCTION wait_for_test()`);
  await session.unsafe("SELECT pg_advisory_lock(1)");
  return {
    awaited: () => lockAwaitedBy(session),
    release: () => session.unsafe("SELECT pg_advisory_unlock(1)"),
    [Symbol.asyncDispose]: () => session.close(),
  };
}
