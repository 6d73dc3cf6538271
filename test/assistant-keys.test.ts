import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { beginSession } from "../src/domain/catalogue/assistant-sessions.ts";
import { earlier, revisions, version } from "./support/assistants.ts";
import { createTestClock } from "./support/clock.ts";
import { programHere } from "./support/program.ts";
import { startTestService, surfaceEngine, type TestService } from "./support/service.ts";
import { expectSameContent } from "./support/store-content.ts";

// An assistant that gets no answer calls again. What it wanted is done once.

const large = 9_007_199_254_740_993n;

/** The answer of a tool. */
interface Said {
  readonly isError: boolean;
  readonly text: string;
  /** The second text of an error. */
  readonly details: readonly { readonly id: string }[] | undefined;
  // biome-ignore lint/suspicious/noExplicitAny: the result of any tool.
  readonly json: any;
}

interface Answer {
  readonly result: { readonly content: readonly { readonly text: string }[]; isError: boolean };
}

function saidIn({ result: { content, isError } }: Answer): Said {
  const [text, more] = content.map((one) => one.text);
  const json = isError ? undefined : JSON.parse(text!);
  return { isError, text: text!, details: more && JSON.parse(more).details, json };
}

const sale = (petId: number | string | bigint = 1) => ({
  ...{ changes: [{ petId, delta: -1 }], reason: "sale" },
});

/** A call of a tool as it is sent. Ids are written with all digits. */
function call(name: string, given: object, id: unknown = 1): string {
  const exact = (_name: string, one: unknown) =>
    typeof one === "bigint" ? JSON.rawJSON(`${one}`) : one;
  const params = JSON.stringify({ name, arguments: given }, exact);
  return earlier("tools/call", {}, id).replace('"params":{}', () => `"params":${params}`);
}

describe.each([surfaceEngine])("a request that an assistant sends twice on %s", (engine) => {
  let service: TestService;
  let key: { id: string; text: string };
  beforeAll(async () => {
    const clock = createTestClock(Date.now());
    service = await startTestService(engine, { mcp: "on" }, {}, { program: programHere(), clock });
    key = await service.issueKey();
    await service.addPets(
      ...[1n, 2n, 3n, large - 1n, large].map((petId) => ({ petId, quantity: 100 })),
    );
  });
  afterAll(() => service.stop());

  let lastKey = 0;
  const freshKey = () => `key-${++lastKey}`;

  const send = (body: string, headers: Record<string, string> = {}, text = key.text) =>
    service.call("POST", "~/mcp", { key: text, body, headers });
  async function use(name: string, given: object, headers = {}, id: unknown = 1, text = key.text) {
    const answer = await send(
      call(name, given, id),
      { ...version(revisions[1]), ...headers },
      text,
    );
    expect(answer.status).toBe(200);
    return saidIn(answer.json as Answer);
  }
  const change = (given: object, ...rest: [headers?: object, id?: unknown, text?: string]) =>
    use("change_stock", given, ...rest);
  async function useAll(messages: readonly string[], headers: Record<string, string>) {
    const answer = await send(`[${messages.join()}]`, headers);
    expect(answer.status).toBe(200);
    return (answer.json as Answer[]).map(saidIn);
  }
  const same = <T>(work: () => Promise<T>) => expectSameContent(service.store, work);
  async function quantityOf(petId: number | bigint): Promise<number> {
    const { json } = await service.call("GET", `/inventory/${petId}`, { key: key.text });
    return (json as { quantity: number }).quantity;
  }
  /** A session of the connection, and its header. */
  async function connect() {
    const hello = await send(earlier("initialize"));
    const session = hello.headers.get("Mcp-Session-Id")!;
    return { session, header: { "Mcp-Session-Id": session } };
  }

  /** Asserts that the second one repeats the first one, which was stored. */
  function expectReplayed(first: Said, second: Said): void {
    expect(first).toMatchObject({ isError: false });
    expect(first.json.isReplayed).toBeUndefined();
    expect(second).toMatchObject({ isError: false, json: { ...first.json, isReplayed: true } });
  }

  test("with an idempotencyKey is one change, in whatever session", async () => {
    const given = { ...sale(), idempotencyKey: freshKey() };
    const first = await change(given);
    const [{ session }, { header }] = [(await change(sale(2))).json, await connect()];
    const again = await same(async () => [
      await change(given),
      await change({ ...given, session }),
      await change({ ...given, session: first.json.session }, {}, "another id"),
      await change(given, header),
    ]);
    for (const second of again) expectReplayed(first, second);
    expect(first.json.session).not.toBe(session);
    const [own, other] = await Promise.all(
      [first.json.requestId, "req_000000000000_1"].map((requestId) =>
        use("what_became_of_request", { requestId }),
      ),
    );
    expect(own!.json.changes).toHaveLength(1);
    expect(other!.json).toMatchObject({ outcome: "unknown" });
  });

  test("with an idempotencyKey is an error if it says something else", async () => {
    const given = { ...sale(), idempotencyKey: freshKey() };
    await change(given);
    const refused = await same(async () => [
      await change({ ...given, ...sale(2) }),
      await change({ ...given, reason: "another" }),
      await change({ ...given, changes: [{ petId: 1, quantity: 1 }] }),
      await change({ ...given, changes: [...given.changes, ...given.changes] }),
    ]);
    for (const { isError, text } of refused) {
      expect([isError, text.split(":")[0]]).toEqual([true, "idempotency_key_reused"]);
    }
    // Another key has its own.
    const other = await service.issueKey();
    expect((await change(given, {}, 1, other.text)).json.isReplayed).toBeUndefined();
  });

  test("with the header Idempotency-Key is one change, however the key is written", async () => {
    const idempotencyKey = freshKey();
    const first = await change(sale(), { "Idempotency-Key": idempotencyKey });
    const again = await same(async () => [
      await change(sale(), { "Idempotency-Key": `"${idempotencyKey}"` }, "another id"),
      await change({ ...sale(), idempotencyKey }),
    ]);
    for (const second of again) expectReplayed(first, second);
    // The argument goes first.
    const own = { ...sale(), idempotencyKey: freshKey() };
    const next = await change(own, { "Idempotency-Key": idempotencyKey });
    expect(next.json.isReplayed).toBeUndefined();
  });

  test("with the header in an array is one change for each of its messages", async () => {
    const header = { "Idempotency-Key": freshKey() };
    const before = await quantityOf(1);
    const messages = [1, "1", "two"].map((id) => call("change_stock", sale(), id));
    const first = await useAll(messages, header);
    expect(await quantityOf(1)).toBe(before - 3);
    const second = await same(() => useAll(messages.toReversed(), header));
    for (const [at, one] of second.toReversed().entries()) expectReplayed(first[at]!, one);
    const [mixed] = await same(() => useAll([call("change_stock", sale(2), 1)], header));
    expect(mixed!.text).toStartWith("idempotency_key_reused:");
  });

  test("in a session with the same id is one message", async () => {
    const [{ session, header }, other] = [await connect(), await connect()];
    const first = await change(sale(), header, 7);
    expect(first.json.session).toBe(session);
    const again = await same(async () => [
      await change(sale(), header, 7),
      ...(await useAll([call("change_stock", sale(), 7)], header)),
    ]);
    for (const second of again) expectReplayed(first, second);
    const mixed = await same(async () => [
      await change(sale(2), header, 7),
      await change({ ...sale(), reason: "another" }, header, 7),
    ]);
    for (const one of mixed) expect(one.text).toStartWith("idempotency_key_reused:");
    // An id as a text is another one, and so is each in another session.
    for (const fresh of [
      await change(sale(), header, "7"),
      await change(sale(), header, 8),
      await change(sale(), other.header, 7),
      await change({ ...sale(), idempotencyKey: freshKey() }, header, 7),
    ]) {
      expect(fresh).toMatchObject({ isError: false });
      expect(fresh.json.isReplayed).toBeUndefined();
    }
  });

  test("is refused if its key is none", async () => {
    const [rule, header] = ["must have 1 to 255 printable ASCII", "'Idempotency-Key' must be"];
    await same(async () => {
      for (const idempotencyKey of ["", "é", "a\nb", "k".repeat(256), 5, true]) {
        const { isError, text } = await change({ ...sale(), idempotencyKey });
        expect(isError).toBe(true);
        expect(text).toStartWith(`invalid_request: Argument 'idempotencyKey' ${rule}`);
      }
      for (const key of ["", '""', "a b", "a,b", "k".repeat(256)]) {
        const { isError, text } = await change(sale(), { "Idempotency-Key": key });
        expect(isError).toBe(true);
        expect(text).toStartWith(`invalid_request: Header ${header}`);
      }
    });
  });

  test("without any of these is two changes", async () => {
    const before = await quantityOf(1);
    const said = [await change(sale()), await change(sale())];
    expect(await quantityOf(1)).toBe(before - 2);
    const sessions = said.map(({ json }) => json.session);
    expect(new Set(sessions).size).toBe(2);
    // The argument `session` is that of the changes, and says nothing about their messages.
    const [session] = sessions;
    await change({ ...sale(), session });
    await change({ ...sale(), session });
    expect(await quantityOf(1)).toBe(before - 4);
  });

  test("as a dry run neither uses nor remembers its key", async () => {
    const { session, header } = await connect();
    const given = { ...sale(), idempotencyKey: freshKey() };
    const tried = async () => [
      await change({ ...given, dryRun: true }),
      await change({ ...sale(2), idempotencyKey: given.idempotencyKey, dryRun: true }),
      await change({ ...sale(), dryRun: true }, header, 7),
      await change({ ...sale(), dryRun: true }, { "Idempotency-Key": given.idempotencyKey }),
    ];
    const expectTried = (said: readonly Said[]) => {
      for (const { json } of said) expect(json).toMatchObject({ dryRun: true, entries: [{}] });
    };
    expectTried(await same(tried));
    const [first, inSession] = [await change(given), await change(sale(), header, 7)];
    for (const one of [first, inSession]) expect(one.json.isReplayed).toBeUndefined();
    // Not even those of a request that was made.
    expectTried(await same(tried));
    const undo = { session, idempotencyKey: freshKey() };
    const previews = await same(async () => [
      await use("undo_session", { ...undo, dryRun: true }),
      await use("undo_session", { ...undo, dryRun: true }),
    ]);
    for (const { json } of previews) expect(json).toMatchObject({ rows: 1, undone: 1 });
    expect((await use("undo_session", undo)).json).toMatchObject({ undone: 1 });
    const after = await same(() => use("undo_session", { ...undo, dryRun: true }));
    expect(after.json).toMatchObject({ undone: 0, leftOut: 1 });
  });

  test("may write an id above 2^53 as a number or as a text", async () => {
    const before = [await quantityOf(large), await quantityOf(large - 1n)];
    const idempotencyKey = freshKey();
    const first = await change({ ...sale(large), idempotencyKey });
    const second = await same(() => change({ ...sale(`${large}`), idempotencyKey }));
    expectReplayed(first, second);
    for (const { text } of [first, second]) expect(text).toContain(`"petId":${large},`);
    const other = await same(() => change({ ...sale(`${large - 1n}`), idempotencyKey }));
    expect(other.text).toStartWith("idempotency_key_reused:");
    expect([await quantityOf(large), await quantityOf(large - 1n)]).toEqual([
      before[0]! - 1,
      before[1]!,
    ]);
  });

  test("and undoes a session undoes it once", async () => {
    const { session } = (await change(sale(3))).json;
    const before = await quantityOf(3);
    const undo = { session, idempotencyKey: freshKey() };
    const hello = await send(call("undo_session", undo), version(revisions[1]));
    const requestId = hello.headers.get("X-Request-Id")!;
    expect(saidIn(hello.json as Answer).json).toMatchObject({ undone: 1 });
    expect(await quantityOf(3)).toBe(before + 1);
    const header = { "Idempotency-Key": undo.idempotencyKey };
    const again = await same(async () => [
      await use("undo_session", undo),
      await use("undo_session", { session }, header),
    ]);
    for (const { text, details } of again) {
      expect(text).toStartWith("idempotency_conflict:");
      expect(text).toContain(requestId);
      expect(details).toEqual([{ id: requestId }]);
    }
    const { session: other } = (await change(sale(3))).json;
    const mixed = await same(() => use("undo_session", { ...undo, session: other }));
    expect(mixed.text).toStartWith("idempotency_key_reused:");
    const rows = (await use("stock_history", { petId: 3 })).json.items as { cause: string }[];
    expect(rows.filter(({ cause }) => cause === "undo")).toHaveLength(1);
  });

  test("cannot name a session from before its key was created", async () => {
    const made = [0, 1, service.clock.now() - 2 * 86_400_000].map((ms) => beginSession(key.id, ms));
    for (const session of made) {
      const header = { "Mcp-Session-Id": session };
      const refused = await same(async () => [
        await change({ ...sale(), session }),
        await change({ ...sale(), session, dryRun: true }),
        await change(sale(), header),
        await use("undo_session", { session }),
        await use("undo_session", { session, dryRun: true }),
        await use("undo_session", {}, header),
      ]);
      for (const { isError, text } of refused) {
        expect([isError, text]).toEqual([true, "not_found: This key has no such session."]);
      }
    }
  });
});
