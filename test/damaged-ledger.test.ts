import { Database } from "bun:sqlite";
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { SQL } from "bun";
import { expectError } from "./support/responses.ts";
import {
  engines,
  startTestService,
  type TestResponse,
  type TestService,
} from "./support/service.ts";

/** Changes the database as an operator with a database shell would. */
async function tamper(service: TestService, ...statements: string[]): Promise<void> {
  if (service.databaseUrl.startsWith("sqlite:")) {
    using database = new Database(service.databaseUrl.slice("sqlite:".length));
    for (const statement of statements) database.run(statement);
  } else {
    await using sql = new SQL(service.databaseUrl, { max: 1 });
    // PostgreSQL keeps the end of the ledger in another table.
    for (const statement of statements) {
      await sql.unsafe(`${statement.replace(/\bhead\b/, "ledger_end")} WHERE seq >= 0`);
    }
  }
}

const addRow = (seq: string) => `
  INSERT INTO ledger (seq, pet_id, quantity_before, quantity_after, status_before, status_after,
                      previous, cause, at, hash)
  SELECT ${seq}, 1, 3, 3, 'available', 'available', NULL, 'import', at,
         (SELECT hash FROM ledger WHERE seq = 1) FROM head`;

describe.each(engines)("a damaged ledger on %s", (engine) => {
  let service: TestService;
  let key: string;
  beforeEach(async () => {
    service = await startTestService(engine);
    key = (await service.issueKey()).text;
    await service.addPets({ petId: 1n, quantity: 3 }, { petId: 2n, quantity: 4 });
    await list();
  });
  afterEach(() => service.stop());

  const list = () => service.call("GET", "/inventory", { key });
  /** What the service logged, apart from reloads of the list, which may come at any time. */
  const events = () =>
    service.logged
      .map((line) => JSON.parse(line) as { event: string })
      .filter(({ event }) => event !== "list reloaded");
  const ready = () => service.call("GET", "~/readyz");

  /** A change by another program is noticed soon, but not necessarily by the next request. */
  async function until(status: number, ask: () => Promise<TestResponse>): Promise<TestResponse> {
    const giveUpAt = Date.now() + 60_000;
    for (;;) {
      const answer = await ask();
      if (answer.status === status || Date.now() > giveUpAt) return answer;
    }
  }

  async function expectFailingReads(row: number, head: number): Promise<void> {
    expectError(await until(503, list), "unavailable");
    expect((await ready()).status).toBe(503);
    for (let read = 0; read < 5; read++) expectError(await list(), "unavailable");
    expect((await service.call("GET", "~/healthz")).status).toBe(200);
    expect((await service.call("GET", "/pets/1", { key })).status).toBe(200);
    const error = `the ledger has no row ${row}, but its head is ${head}; run petstore verify`;
    expect(events()).toMatchObject([
      { event: "ledger damaged", error },
      { event: "requests failing", reason: "damaged", operation: "listInventory", cause: error },
    ]);
  }

  async function expectRepaired(): Promise<void> {
    expect((await until(200, list)).json).toEqual([
      { petId: 1, quantity: 3, status: "available" },
      { petId: 2, quantity: 4, status: "available" },
    ]);
    expect((await ready()).status).toBe(200);
    expect(events().at(-1)).toEqual({ event: "ledger repaired" });
  }

  test("[open.damaged-ledger] reads get 503 until the missing row is back", async () => {
    await tamper(service, addRow("seq + 2"), "UPDATE head SET seq = seq + 2");
    await expectFailingReads(3, 4);
    await tamper(service, addRow("seq - 1"));
    await expectRepaired();
  });

  test("that ends before its head fails reads until it has all rows", async () => {
    await tamper(service, "UPDATE head SET seq = seq + 5");
    await expectFailingReads(7, 7);
    // A head that goes back is an older copy of the file to SQLite, after which the process ends.
    await tamper(service, ...[4, 3, 2, 1, 0].map((back) => addRow(`seq - ${back}`)));
    await expectRepaired();
  });

  test("that has a row after its head takes no import", async () => {
    await tamper(service, addRow("seq + 1"));
    const before = (await list()).text;
    await expect(service.addPets({ petId: 1n, quantity: 9 }, { petId: 3n })).rejects.toThrow();
    expect((await list()).text).toBe(before);
  });

  test("fails the readiness check without any read, and prevents a start with one message", async () => {
    await tamper(service, "UPDATE head SET seq = seq + 5");
    expect((await until(503, ready)).status).toBe(503);
    await expect(service.restart()).rejects.toThrow(
      "the ledger has no row 7, but its head is 7; run petstore verify",
    );
    await tamper(service, "UPDATE head SET seq = seq - 5");
  });
});
