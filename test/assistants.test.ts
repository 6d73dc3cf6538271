import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { beginSession, isOlderThan } from "../src/domain/catalogue/assistant-sessions.ts";
import { issueOperator } from "./support/admin/operators.ts";
import { connect, earlier, revisions, version } from "./support/assistants.ts";
import { createTestClock } from "./support/clock.ts";
import { runHere } from "./support/commands.ts";
import { programHere } from "./support/program.ts";
import { expectCommonHeaders, expectError, expectUnchanged } from "./support/responses.ts";
import { startTestService, surfaceEngine, type TestService } from "./support/service.ts";

const large = 9_007_199_254_740_993n;

const reading = ["list_stock", "get_stock"];
const past = ["stock_history", "list_changes", "stock_at", "compare_stock"];
const changing = ["change_stock", "undo_session"];

describe.each([surfaceEngine])("an assistant on %s", (engine) => {
  let service: TestService;
  let key: { id: string; text: string };
  beforeAll(async () => {
    // The command that makes an undo has the time of the machine.
    const clock = createTestClock(Date.now());
    service = await startTestService(engine, { mcp: "on" }, {}, { program: programHere(), clock });
    key = await service.issueKey({ name: "Assistant" });
    await service.addPets(
      ...Array.from({ length: 60 }, (_, at) => ({
        ...{ petId: BigInt(at + 1), quantity: 100, name: at === 41 ? "Rex" : `Fish ${at}` },
      })),
      { petId: large, quantity: 5, name: "Whale" },
    );
  });
  afterAll(() => service.stop());
  const stock = async (text = key.text) =>
    (await service.call("GET", "/inventory", { key: text })).text;
  const send = (body: string, headers: Record<string, string> = {}, text = key.text) =>
    service.call("POST", "~/mcp", { key: text, body, headers });

  test.each(revisions)("makes 50 changes in %s, and one undo takes back all", async (revision) => {
    const { client, use, names, session: connected } = await connect(service, key.text, revision);
    expect(await names()).toEqual([...reading, ...past, "what_became_of_request", ...changing]);
    const { tools } = await client.listTools();
    // Its arguments are not part of an address.
    expect(JSON.stringify(tools)).not.toContain("%2B");
    const writing = tools.filter(({ annotations }) => !annotations?.readOnlyHint);
    expect(writing.map(({ name }) => name)).toEqual(changing);
    const before = await stock();
    let session = connected();
    const changes = (at: number) => [
      { petId: at % 10, delta: -1 },
      { petId: `${large}`, delta: 1 },
    ];
    for (let at = 1; at <= 50; at++) {
      const given = {
        reason: `sale ${at}`,
        changes: changes(at + 10).slice(at % 10 === 0 ? 1 : 0),
      };
      // The current revision has no sessions of its own: the first change returns one.
      const said = await use("change_stock", { ...given, ...(session && { session }) });
      expect(said.text).toStartWith('{"session":"ses_');
      session ??= said.json.session;
      expect(said.json.session).toBe(session);
    }
    const last = (await use("stock_history", { petId: `${large}`, limit: 1 })).json;
    expect(last.items[0]).toMatchObject({ keyId: key.id, reason: `sale 50 [${session}]` });
    expect(await stock()).not.toBe(before);
    const { asOf, ...preview } = (await use("undo_session", { session, dryRun: true })).json;
    expect(preview).toMatchObject({ rows: 95, undone: 10, changed: 0, leftOut: 0 });
    expect((await use("undo_session", { session })).json).toMatchObject({ undone: 10 });
    expect(await stock()).toBe(before);
    expect((await use("undo_session", { session })).json).toMatchObject({ undone: 0, leftOut: 10 });
    expect((await use("compare_stock", { moment: "61", to: `${asOf + 10}` })).json.items).toEqual(
      [],
    );
    const [undone] = (await use("stock_history", { petId: `${large}`, limit: 1 })).json.items;
    expect(undone).toMatchObject({ cause: "undo", keyId: key.id, reason: `undo of ${session}` });
    expect(await runHere(["verify", "--database", service.databaseUrl])).toMatchObject({ code: 0 });
  });

  test("sees what a change would do, and what was changed since is left out", async () => {
    const { use } = await connect(service, key.text, revisions[0]);
    const given = {
      reason: "count",
      changes: [
        { petId: 1, quantity: 7 },
        { petId: 2, delta: 1 },
      ],
    };
    const dry = await expectUnchanged(service.store, () =>
      use("change_stock", { ...given, dryRun: true }),
    );
    expect(dry.json).toMatchObject({
      dryRun: true,
      entries: [
        { petId: 1, quantity: 7, before: { quantity: 100, status: "available" } },
        { petId: 2, quantity: 101, before: { quantity: 100 } },
      ],
    });
    const { session, requestId } = (await use("change_stock", given)).json;
    expect((await use("what_became_of_request", { requestId })).json).toMatchObject({
      ...{ outcome: "stored", changes: [{ petId: 1 }, { petId: 2 }] },
    });
    await service.call("PATCH", "/inventory/2", { key: key.text, body: '{"quantity":50}' });
    expect((await use("undo_session", { session })).json).toMatchObject({
      ...{ undone: 1, changed: 1 },
      pets: [
        { petId: 2, why: expect.stringContaining("changed since") },
        { petId: 1, why: null },
      ],
    });
    const operator = (await issueOperator(service, "Ada")).text;
    const path = `~/admin/changes/undo?session=${session}`;
    const undo = (body: string) => service.call("POST", path, { key: operator, body });
    expect((await undo('{"force":true}')).json).toMatchObject({ undone: 1, changed: 1 });
    expect(await stock()).toContain('{"petId":1,"quantity":100,"status":"available"}');
    const words = ["undo", "--session", session, "--database", service.databaseUrl];
    expect(await runHere(words)).toMatchObject({ code: 1, out: expect.stringMatching("left out") });
  });

  test("reads in pages, with all digits, and finds a pet by its name", async () => {
    const { use } = await connect(service, key.text, revisions[0]);
    const all: string[] = [];
    let next: object | undefined = {};
    while (next) {
      const { text, json } = await use("list_stock", { limit: 25, ...next });
      all.push(...[...text.matchAll(/"petId":(\d+)/g)].map(([, id]) => id!));
      next = json.next;
    }
    expect(all).toEqual([...Array.from({ length: 60 }, (_, at) => `${at + 1}`), `${large}`]);
    expect((await use("list_stock", { name: "REX" })).json.items).toMatchObject([
      { petId: 42, name: "Rex", quantity: 100, version: expect.any(Number) },
    ]);
    expect((await use("get_stock", { petId: `${large}` })).text).toContain(`"petId":${large},`);
    const first = (await use("stock_at", { moment: "61", limit: 2 })).json;
    expect(first).toEqual({
      items: [1, 2].map((petId) => ({ petId, quantity: 100, status: "available" })),
      next: { after: "2" },
    });
    const rest = await use("stock_at", { moment: "61", after: "59", limit: 2 });
    expect(rest.text).toContain(`"petId":60,`);
    expect(rest.json.next).toBeUndefined();
    expect((await use("list_changes", { after: 3, limit: 2 })).json).toMatchObject({
      items: [{ seq: 4 }, { seq: 5 }],
      next: { after: 5 },
    });
    expect((await use("stock_at", { moment: "0" })).json).toEqual({ items: [] });
    expect(service.logged).toEqual([]);
  });

  test("gives a reason for the call or for each change, which goes first", async () => {
    const { use } = await connect(service, key.text, revisions[0]);
    const own = { petId: 5, delta: -1, reason: "own" };
    const plain = { petId: 6, delta: -1 };
    const mixed = await expectUnchanged(service.store, () =>
      use("change_stock", { changes: [own, plain] }),
    );
    expect(mixed.text).toContain("Each change, or the call, must have a reason");
    const reasonOf = async (petId: number) =>
      (await use("stock_history", { petId, limit: 1 })).json.items[0].reason;
    await use("change_stock", { changes: [own] });
    expect(await reasonOf(5)).toStartWith("own [ses_");
    await use("change_stock", { changes: [own, plain], reason: "shared" });
    expect(await reasonOf(5)).toStartWith("own [ses_");
    expect(await reasonOf(6)).toStartWith("shared [ses_");
  });

  test("can do what its key can, and nothing of another key", async () => {
    const reader = await service.issueKey({ name: "Reader", scopes: ["inventory:read"] });
    const { use, names } = await connect(service, reader.text, revisions[0]);
    expect(await names()).toEqual(reading);
    const other = await connect(service, key.text, revisions[1]);
    const given = { reason: "sale", changes: [{ petId: 3, delta: -1 }] };
    const { session, requestId } = (await other.use("change_stock", given)).json;
    expect(session).toBe(other.session());
    const writer = await service.issueKey({ name: "Writer", scopes: ["inventory:write"] });
    const { use: write } = await connect(service, writer.text, revisions[0]);
    const refused = await expectUnchanged(service.store, async () => [
      await use("change_stock", given),
      await use("undo_session", { session }),
      await use("list_stock", { name: "Rex" }),
      await use("stock_history", { petId: 3 }),
      await write("change_stock", { ...given, session }),
      await write("undo_session", { session }),
    ]);
    const foreign = await write("what_became_of_request", { requestId });
    expect(foreign.json).toMatchObject({ outcome: "unknown", changes: [] });
    for (const { isError, text } of refused) {
      expect(isError).toBe(true);
      expect(text).toMatch(/scope|no such session/);
    }
    expect((await use("list_stock", { limit: 1 })).json.items[0].name).toBeUndefined();
    // A reason with the mark of a session does not add a row of another key to it.
    const body = JSON.stringify({ changes: [{ petId: 4, delta: 1, reason: `x [${session}]` }] });
    await service.call("POST", "/changes", { key: writer.text, body });
    expect((await other.use("undo_session")).json).toMatchObject({ rows: 1, undone: 1 });
  });

  const current = (method: string, params: object = {}, id: unknown = 1) => {
    const name = (one: string) => `io.modelcontextprotocol/${one}`;
    const _meta = { [name("protocolVersion")]: revisions[0], [name("clientCapabilities")]: {} };
    return JSON.stringify({ jsonrpc: "2.0", id, method, params: { ...params, _meta } });
  };
  const headersOf = (method: string, name = "") => ({
    "MCP-Protocol-Version": revisions[0],
    "Mcp-Method": method,
    ...(name && { "Mcp-Name": name }),
  });

  test("gets errors for malformed messages, and changes nothing", async () => {
    const deep = "[".repeat(30_000);
    const call = { name: "change_stock" };
    const change = (given: unknown) => current("tools/call", { ...call, arguments: given });
    const one = [{ petId: 1, delta: 1 }];
    const future = beginSession(key.id, service.clock.now() + 2 * 86_400_000);
    const bad: [string, Record<string, string>, number, string][] = [
      ["{", {}, 400, "not valid JSON"],
      [deep, {}, 400, "not valid JSON"],
      ["", {}, 400, "required"],
      ["\xff", {}, 400, "not valid"],
      ["[]", {}, 400, "arrays"],
      [`[${current("tools/list")}]`, headersOf("tools/list"), 400, "arrays"],
      ["null", {}, 400, "one message"],
      ['{"jsonrpc":"1.0","id":1,"method":"ping"}', {}, 400, "one message"],
      ['{"jsonrpc":"2.0","id":1,"method":5}', {}, 400, "one message"],
      ['{"jsonrpc":"2.0","id":null,"method":"ping"}', {}, 400, "one message"],
      ['{"jsonrpc":"2.0","id":{},"method":"ping"}', {}, 400, "one message"],
      ['{"jsonrpc":"2.0","id":1,"result":1}', {}, 400, "one message"],
      ['{"jsonrpc":"2.0","result":{}}', {}, 400, "one message"],
      [earlier("ping", []), version(revisions[1]), 400, "one message"],
      [" ".repeat(65_537), {}, 413, "larger"],
      [earlier("ping"), version("2024-11-05"), 400, "-32022"],
      [earlier("ping"), version(""), 400, "-32022"],
      [earlier("ping"), version(`${revisions[2]}, ${revisions[3]}`), 400, "-32022"],
      ['{"jsonrpc":"2.0","method":"notifications/x"}', version("2024-11-05"), 400, "-32022"],
      [earlier("ping"), version(revisions[0]), 400, "-32602"],
      [current("tools/list"), {}, 400, "-32020"],
      [current("tools/list"), { ...headersOf("ping") }, 400, "-32020"],
      [change({}), headersOf("tools/call", "list_stock"), 400, "-32020"],
      [
        current("tools/list").replace(revisions[0], "2099-01-01"),
        version("2099-01-01"),
        400,
        "-32020",
      ],
      [current("ping"), headersOf("ping"), 404, "-32601"],
      [current("resources/list"), headersOf("resources/list"), 404, "-32601"],
      [earlier("server/discover"), version(revisions[1]), 200, "-32601"],
      [current("tools/call", { name: "x" }), headersOf("tools/call", "x"), 200, "-32602"],
      [current("tools/call"), headersOf("tools/call"), 400, "-32020"],
    ];
    const wrong: [unknown, string][] = [
      [undefined, "Argument 'changes' is required."],
      ["x", "must be an object"],
      [[], "must be an object"],
      [{ changes: one }, "reason"],
      [{ changes: one, reason: "" }, "reason"],
      [{ changes: one, reason: "a\u0000b" }, "reason"],
      [{ changes: one, reason: "é".repeat(180) }, "reason"],
      [{ changes: one, reason: { a: 1 } }, "wrong type"],
      [{ changes: one, reason: "x", dryrun: true }, "Did you mean 'dryRun'"],
      [{ changes: one, reason: "x", dryRun: "yes" }, "invalid_request"],
      [{ changes: one, reason: "x", dryRun: 1 }, "dryRun"],
      [{ changes: one, reason: "x", dryRun: 'true,"dryRun":false' }, "Argument 'dryRun'"],
      [{ changes: JSON.stringify(one), reason: "x" }, "wrong type"],
      [{ changes: one, reason: "x", session: future }, "no such session"],
      [{ changes: one, reason: "x", session: "ses_1" }, "Argument 'session'"],
      [{ changes: { petId: 1 }, reason: "x" }, "wrong type"],
      [{ changes: [], reason: "x" }, "1 to 1000"],
      [{ changes: [{ petId: 404, delta: 1 }], reason: "x" }, "not_found"],
      [{ changes: [{ petId: "01", delta: 1 }], reason: "x" }, "petId"],
      [{ changes: [{ petId: 1, delta: -1e9 }], reason: "x" }, "insufficient_stock"],
      [
        { changes: [404, large].map((petId) => ({ petId: `${petId}`, delta: -1e9 })), reason: "x" },
        `{"details":[{"index":0,"petId":404,"code":"not_found"},{"index":1,"petId":${large},"code":"insufficient_stock","requested":1000000000,"available":5}]}`,
      ],
    ];
    await expectUnchanged(service.store, async () => {
      for (const [body, headers, status, text] of bad) {
        const answer = await send(body, headers);
        expect(`${answer.status} ${answer.text}`).toMatch(new RegExp(`^${status} .*${text}`));
        expectCommonHeaders(answer);
        if (status === 200) continue;
        const requestId = answer.headers.get("x-request-id");
        const outcome = await service.call("GET", `/requests/${requestId}`, { key: key.text });
        const { message, error } = JSON.parse(answer.text);
        const kept = { status, message: message ?? error.message };
        expect(outcome.json).toMatchObject({ outcome: "refused", error: kept });
      }
      for (const [given, text] of wrong) {
        const answer = await send(change(given), headersOf("tools/call", call.name));
        expect(answer.status).toBe(200);
        expect(answer.text).toContain('"isError":true');
        expect(answer.text).toContain(JSON.stringify(text).slice(1, -1));
      }
    });
    const exact = await send(
      current("server/discover", {}, 7).replace(":7,", ":9007199254740993,"),
      {
        ...headersOf("server/discover"),
      },
    );
    expect(exact.text).toStartWith(
      '{"jsonrpc":"2.0","id":9007199254740993,"result":{"resultType":"c',
    );
    const encoded = `=?base64?${Buffer.from("get_stock").toString("base64")}?=`;
    const asked = current("tools/call", { name: "get_stock", arguments: { petId: 5 } });
    expect((await send(asked, headersOf("tools/call", encoded))).text).toContain("petId");
    const note = await send('{"jsonrpc":"2.0","method":"notifications/initialized"}');
    expect(`${note.status}${note.text}`).toBe("202");
    expect(service.logged).toEqual([]);
  });

  test("is limited, needs a key, and is not for the pages of others", async () => {
    const hello = [earlier("initialize"), {}] as const;
    expectError(await send(...hello, "psk_live_wrong"), "unauthorized");
    expectError(await service.call("GET", "~/mcp", { key: key.text }), "method_not_allowed");
    expectError(await service.call("DELETE", "~/mcp", { key: key.text }), "method_not_allowed");
    expectError(await service.call("POST", "~/mcp/x", { key: key.text }), "not_found");
    const { host } = new URL(service.baseUrl);
    const foreign = await send(hello[0], { Origin: `http://${host}` });
    expect(foreign.status).toBe(403);
    const once = await service.issueKey({ limits: { perMinute: 1, perDay: 10 } });
    expect((await send(...hello, once.text)).headers.get("Mcp-Session-Id")).toStartWith("ses_");
    const late = await send(...hello, once.text);
    expectError(late, "rate_limit_exceeded");
    expect(late.headers.get("Retry-After")).toMatch(/^\d+$/);
  });
});

test("without --mcp, the path does not exist", async () => {
  await using stack = new AsyncDisposableStack();
  const service = await startTestService();
  stack.defer(service.stop);
  const { text } = await service.issueKey();
  const [mcp, other] = await Promise.all(
    ["~/mcp", "~/other"].map((path) => service.call("POST", path, { key: text })),
  );
  expect([mcp!.status, mcp!.text]).toEqual([404, other!.text]);
});

test("a session that names a time before its key was created is told apart, up to a clock error", () => {
  const createdAt = Date.UTC(2026, 0, 1);
  const isOlder = (ms: number) => isOlderThan(beginSession("key_0a", createdAt + ms), createdAt);
  expect([0, 1_000, -86_400_000, -86_400_001].map(isOlder)).toEqual([false, false, false, true]);
});
