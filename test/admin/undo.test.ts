import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { commandLine } from "../../src/domain/audit/audit.ts";
import { beginSession } from "../../src/domain/catalogue/assistant-sessions.ts";
import { undoTogether } from "../../src/domain/catalogue/undo-together.ts";
import { issueOperator } from "../support/admin/operators.ts";
import { createTestClock } from "../support/clock.ts";
import { programHere } from "../support/program.ts";
import { expectError } from "../support/responses.ts";
import { startTestService, surfaceEngine, type TestService } from "../support/service.ts";

interface Undone {
  readonly asOf: number;
  readonly pets: readonly object[];
}

describe.each([surfaceEngine])("an undo of several changes on %s", (engine) => {
  let service: TestService;
  let operator: string;
  let till: { id: string; text: string };
  beforeAll(async () => {
    // The command that makes an undo has the time of the machine.
    const clock = createTestClock(Date.now());
    service = await startTestService(engine, {}, {}, { program: programHere(), clock });
    operator = (await issueOperator(service, "Ada")).text;
    till = await service.issueKey({ name: "Till" });
    await service.addPets({ petId: 1n, quantity: 10 }, { petId: 2n, quantity: 20 });
  });
  afterAll(() => service.stop());

  const undo = (query: Record<string, string>, body: object = {}) =>
    service.call("POST", `~/admin/changes/undo?${new URLSearchParams(query)}`, {
      key: operator,
      body: JSON.stringify(body),
    });
  const undone = async (...args: Parameters<typeof undo>) =>
    (await undo(...args)).json as unknown as Undone;
  const quantities = async () =>
    (
      (await service.call("GET", "/inventory", { key: till.text })).json as { quantity: number }[]
    ).map(({ quantity }) => quantity);
  /** Makes changes as one request, and returns its id. */
  async function change(...changes: readonly object[]): Promise<string> {
    const body = JSON.stringify({ changes });
    const response = await service.call("POST", "/changes", { key: till.text, body });
    expect(response.status).toBe(200);
    return response.headers.get("X-Request-Id")!;
  }

  test("is shown first, and leaves out pets that change before it is applied", async () => {
    const request = await change(
      { petId: 1, delta: 5 },
      { petId: 2, delta: 5 },
      { petId: 1, delta: 1 },
    );
    const preview = await undone({ request, dryRun: "true" });
    expect(preview).toMatchObject({ rows: 3, undone: 2, changed: 0, leftOut: 0 });
    await change({ petId: 2, delta: -3 });
    const asOf = `${preview.asOf}`;
    expect(await undone({ request, asOf })).toMatchObject({ undone: 1, changed: 1 });
    expect(await quantities()).toEqual([10, 22]);
    expect(await undone({ request, dryRun: "true" })).toMatchObject({
      ...{ undone: 0, changed: 1, leftOut: 1 },
      pets: [
        { petId: 2, after: { quantity: 17, status: "available" }, why: expect.any(String) },
        { petId: 1, after: null, why: expect.stringContaining("an undo followed") },
      ],
    });
    expect(await undone({ request, asOf }, { force: true })).toMatchObject({ undone: 1 });
    expect(await quantities()).toEqual([10, 17]);
    // The same request again, as after a lost response.
    expect(await undone({ request, asOf }, { force: true })).toMatchObject({ undone: 0 });
    expect(await quantities()).toEqual([10, 17]);
    expectError(await undo({ request }, { reason: "a\u0000b" }), "invalid_request");
  });

  test("does not take an undo of one change for an undo of all", async () => {
    service.clock.advance(60_000);
    const since = new Date(service.clock.now()).toISOString();
    await change({ petId: 2, quantity: 5 });
    const last = await change({ petId: 2, quantity: 3 });
    expect(await undone({ request: last })).toMatchObject({ undone: 1 });
    await change({ petId: 2, quantity: 1 });
    const period = { pet: "2", key: till.id, since };
    expect(await undone(period, { force: true })).toMatchObject({ rows: 3, undone: 0, leftOut: 1 });
    // After an undo that has taken back all of it, only what follows is undone.
    await change({ petId: 2, quantity: 17 });
    const again = new Date(service.clock.now() + 1).toISOString();
    service.clock.advance(60_000);
    const first = await change({ petId: 2, quantity: 5 });
    expect(await undone({ request: first })).toMatchObject({ undone: 1 });
    await change({ petId: 2, quantity: 4 });
    expect(await undone({ key: till.id, since: again })).toMatchObject({ rows: 2, undone: 1 });
    expect(await quantities()).toEqual([10, 17]);
  });

  test("takes back nothing that was stored after the dry run", async () => {
    await change({ petId: 1, quantity: 10 }, { petId: 2, quantity: 17 });
    service.clock.advance(60_000);
    const period = { key: till.id, since: new Date(service.clock.now()).toISOString() };
    await change({ petId: 1, delta: 5 });
    const { asOf } = await undone({ ...period, dryRun: "true" });
    // The filters match these changes too.
    await change({ petId: 1, delta: 2 }, { petId: 2, delta: 3 });
    const shown = { ...period, asOf: `${asOf}` };
    expect(await undone(shown, { force: true })).toMatchObject({ rows: 1, undone: 1, leftOut: 0 });
    expect(await quantities()).toEqual([12, 20]);
    await change({ petId: 1, quantity: 10 }, { petId: 2, quantity: 17 });
  });

  test("takes the changes of one key between two times", async () => {
    service.clock.advance(60_000);
    const since = new Date(service.clock.now()).toISOString();
    await change({ petId: 1, quantity: 0 });
    service.clock.advance(60_000);
    await change({ petId: 1, quantity: 99 }, { petId: 2, quantity: 98 });
    service.clock.advance(60_000);
    const until = new Date(service.clock.now()).toISOString();
    await change({ petId: 2, delta: 1 });
    const period = { key: till.id, since, until };
    expect(await undone({ ...period, dryRun: "true" })).toMatchObject({ rows: 3, undone: 1 });
    expectError(await undo({ ...period, cause: "import" }), "not_found");
    const body = { force: true, reason: "broken" };
    expect(await undone(period, body)).toMatchObject({ undone: 2 });
    expect(await quantities()).toEqual([10, 18]);
  });

  test("leaves out what cannot be taken back", async () => {
    const request = await change({ petId: 1, delta: 5 }, { petId: 2, quantity: 18 });
    await change({ petId: 1, quantity: 2 });
    expect(await undone({ request }, { force: true })).toMatchObject({
      ...{ undone: 0, leftOut: 2 },
      pets: [
        { why: expect.stringContaining("too little") },
        { why: expect.stringContaining("as it was") },
      ],
    });
    expect(await quantities()).toEqual([2, 18]);
  });

  test("keeps a status that others have set, and what was counted", async () => {
    const admin = (body: object) =>
      service.call("POST", "~/admin/changes", { key: operator, body: JSON.stringify(body) });
    service.clock.advance(60_000);
    const since = new Date(service.clock.now()).toISOString();
    await change({ petId: 1, delta: -1 }, { petId: 2, delta: -5 });
    await admin({ changes: [{ petId: 1, status: "pending" }] });
    const { seq } = await service.store.inventory.readHead();
    await admin({ changes: [{ petId: 2, quantity: 18, countedAt: seq }] });
    await change({ petId: 1, delta: -1 });
    const period = { key: till.id, since };
    // A number that the ledger does not have yet means its end.
    const asOf = String(Number.MAX_SAFE_INTEGER);
    const { asOf: end, pets } = await undone({ ...period, asOf, dryRun: "true" }, { force: true });
    expect([end, pets]).toMatchObject([
      seq + 2,
      [
        { petId: 1, after: { quantity: 2, status: "pending" } },
        { petId: 2, after: null, why: expect.stringContaining("counted since") },
      ],
    ]);
    // A change after the count is undone alone.
    await change({ petId: 2, delta: -2 });
    expect(await undone(period, { force: true })).toMatchObject({ rows: 4, undone: 2 });
    expect(await quantities()).toEqual([2, 18]);
    expectError(await undo({ request: "req_none", asOf, dryRun: "true" }), "not_found");
  });

  test("changes nothing in a store that took the place of the one that was read", async () => {
    const other = await startTestService(engine);
    await other.addPets({ petId: 1n, quantity: 10 });
    const requestId = await change({ petId: 1, delta: 5 });
    const { inventory, history } = service.store;
    const { catalogue } = other.store;
    const replaced = {
      inventory,
      history: { ...history, hasRow: other.store.history.hasRow },
      catalogue,
    };
    const options = { actor: commandLine, force: false, isDryRun: false };
    const before = await other.store.inventory.readHead();
    await expect(undoTogether(replaced, { requestId }, options)).rejects.toThrow("Try again");
    expect(await other.store.inventory.readHead()).toEqual(before);
    await other.stop();
    expect(await undone({ request: requestId })).toMatchObject({ undone: 1 });
  });

  test("is refused to an assistant if its session began more than 1,000,000 changes ago", async () => {
    const { inventory, history, catalogue } = service.store;
    const tip = await history.readTip();
    const readTip = async () => ({ ...tip, seq: 1_000_001 });
    const long = { inventory, catalogue, history: { ...history, readTip, seqAt: async () => 0 } };
    const session = beginSession(till.id, service.clock.now());
    const options = { actor: commandLine, force: false, isDryRun: true };
    const undoneBy = (isByAssistant: boolean) =>
      undoTogether(long, { session }, { ...options, isByAssistant });
    await expect(undoneBy(true)).rejects.toThrow("The session began more than 1,000,000 changes");
    await expect(undoneBy(false)).rejects.toThrow("No change was found.");
  });

  test("is for clerks, and not for viewers", async () => {
    const request = await change({ petId: 1, delta: 1 });
    const path = `~/admin/changes/undo?request=${request}`;
    const as = async (role: "clerk" | "viewer") =>
      service.call("POST", path, {
        key: (await issueOperator(service, role, "production", role)).text,
      });
    expectError(await as("viewer"), "insufficient_scope");
    expect((await as("clerk")).status).toBe(200);
    expect(await quantities()).toEqual([2, 18]);
  });
});
