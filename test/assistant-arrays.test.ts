import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { earlier, revisions, version } from "./support/assistants.ts";
import { createTestClock } from "./support/clock.ts";
import { programHere } from "./support/program.ts";
import { expectError, expectUnchanged, limitsOf } from "./support/responses.ts";
import { startTestService, surfaceEngine, type TestService } from "./support/service.ts";

// The revision 2025-03-26 has arrays of messages, and no other.

interface Answer {
  readonly id: unknown;
  readonly result?: { readonly content: { readonly text: string }[]; readonly isError: boolean };
  readonly error?: { readonly code: number; readonly message: string; readonly data: object };
}

describe.each([surfaceEngine])("an array of messages on %s", (engine) => {
  let service: TestService;
  let key: { id: string; text: string };
  beforeAll(async () => {
    const clock = createTestClock(Date.now());
    service = await startTestService(engine, { mcp: "on" }, {}, { program: programHere(), clock });
    key = await service.issueKey();
    await service.addPets(...[1n, 2n, 3n].map((petId) => ({ petId, quantity: 10 })));
  });
  afterAll(() => service.stop());

  const send = (messages: readonly string[], headers: Record<string, string> = {}, one = key) =>
    service.call("POST", "~/mcp", { key: one.text, body: `[${messages.join()}]`, headers });
  const answersOf = async (...given: Parameters<typeof send>) => {
    const answer = await send(...given);
    expect(answer.status).toBe(200);
    return { ...answer, answers: answer.json as readonly Answer[] };
  };
  const use = (name: string, given: object, id: unknown = name) =>
    earlier("tools/call", { name, arguments: given }, id);
  const change = (id: unknown, petId: number, amount: object, session?: string) =>
    use("change_stock", { changes: [{ petId, ...amount }], reason: `no. ${id}`, session }, id);
  const saidBy = ({ result }: Answer) => JSON.parse(result!.content[0]!.text);
  const note = (method: string) => JSON.stringify({ jsonrpc: "2.0", method });
  const stock = async () =>
    (await service.call("GET", "/inventory", { key: key.text })).json as { quantity: number }[];
  const quantityOf = async (petId: number) => (await stock())[petId - 1]!.quantity;

  test("is run in its order, and each message is a request of its own", async () => {
    const hello = await service.call("POST", "~/mcp", {
      key: key.text,
      body: earlier("initialize"),
    });
    const session = hello.headers.get("Mcp-Session-Id")!;
    const before = limitsOf(hello).remaining;
    const { answers, headers } = await answersOf(
      [
        change("first", 1, { quantity: 5 }),
        note("notifications/initialized"),
        use("get_stock", { petId: 1 }, 1),
        change("1", 1, { delta: 2 }),
        '{"jsonrpc":"2.0","id":1,"result":{}}',
        use("get_stock", { petId: 1 }, 9_007_199_254_740_992),
        change("failing", 404, { delta: 1 }),
        earlier("nothing", {}, -3),
        use("nothing", {}, "unknown"),
        earlier("ping", {}, 0),
      ],
      { "Mcp-Session-Id": session },
    );
    expect(limitsOf({ headers }).remaining).toBe(before - 10);
    const ids = ["first", 1, "1", 9_007_199_254_740_992, "failing", -3, "unknown", 0];
    expect(answers.map(({ id }) => id)).toEqual(ids);
    const [first, read, second, last, failing, ...others] = answers;
    expect([read, last].map((one) => saidBy(one!).quantity)).toEqual([5, 7]);
    expect(failing!.result).toMatchObject({ isError: true });
    expect(others).toMatchObject([
      { error: { code: -32601 } },
      { error: { code: -32602 } },
      { result: {} },
    ]);
    // Each change has the outcome of its own request, and one undo takes back both.
    for (const [one, quantity] of [
      [first!, 5],
      [second!, 7],
    ] as const) {
      const { requestId, session: said } = saidBy(one);
      expect(said).toBe(session);
      const outcome = await service.call("GET", `/requests/${requestId}`, { key: key.text });
      expect(outcome.json).toMatchObject({
        ...{ outcome: "stored", changes: [{ keyId: key.id, requestId, after: { quantity } }] },
      });
      expect((outcome.json as { changes: object[] }).changes).toHaveLength(1);
    }
    expect(saidBy(first!).requestId).not.toBe(saidBy(second!).requestId);
    const [undone] = (await answersOf([use("undo_session", {})], { "Mcp-Session-Id": session }))
      .answers;
    expect(saidBy(undone!)).toMatchObject({ rows: 2, undone: 1 });
    expect(await quantityOf(1)).toBe(10);
    expect(service.logged).toEqual([]);
  });

  test("is answered to the official client", async () => {
    const transport = new StreamableHTTPClientTransport(new URL("/mcp", service.baseUrl), {
      requestInit: { headers: { Authorization: `Bearer ${key.text}` } },
    });
    const { promise, resolve } = Promise.withResolvers<void>();
    const answers: unknown[] = [];
    transport.onmessage = (message) => {
      answers.push(message);
      if (answers.length === 2) resolve();
    };
    await transport.start();
    transport.setProtocolVersion(revisions[3]);
    await transport.send([
      { jsonrpc: "2.0", id: 1, method: "tools/list" },
      { jsonrpc: "2.0", method: "notifications/initialized" },
      {
        ...{ jsonrpc: "2.0", id: "two", method: "tools/call" },
        params: { name: "get_stock", arguments: { petId: 3 } },
      },
    ]);
    await promise;
    expect(answers).toMatchObject([
      { id: 1, result: { tools: expect.any(Array) } },
      { id: "two", result: { isError: false } },
    ]);
    await transport.close();
  });

  test("costs as much as its messages, and what is over the limit is not done", async () => {
    const limited = await service.issueKey({ limits: { perMinute: 30, perDay: 1_000 } });
    const changes = (count: number) =>
      Array.from({ length: count }, (_, at) => change(at, 2, { delta: -1 }));
    const all = Array.from({ length: 20 }, (_, at) => earlier("ping", {}, at));
    expect(limitsOf(await send(all, {}, limited)).remaining).toBe(10);
    expect(limitsOf(await send(all.slice(5, 10), {}, limited)).remaining).toBe(5);
    const before = await quantityOf(2);
    const { answers, headers } = await answersOf(changes(8), {}, limited);
    expect(await quantityOf(2)).toBe(before - 5);
    expect(answers.map(({ id, error }) => [id, error?.code])).toEqual([
      ...[0, 1, 2, 3, 4].map((id) => [id, undefined]),
      ...[5, 6, 7].map((id) => [id, -32_000]),
    ]);
    expect(limitsOf({ headers })).toMatchObject({ limit: 30, remaining: 0 });
    expect(headers.get("Retry-After")).toMatch(/^[1-9]\d?$/);
    const { message, data } = answers[7]!.error!;
    expect(data).toEqual({
      ...{ code: "rate_limit_exceeded", message, status: 429 },
      requestId: expect.stringMatching(/^req_/),
    });
    // One that is refused as a whole is a 429, as ever.
    expectError(await send(all, {}, limited), "rate_limit_exceeded");
    const daily = await service.issueKey({ limits: { perMinute: 100, perDay: 25 } });
    expect(limitsOf(await send(all, {}, daily)).remaining).toBe(5);
    const late = await answersOf(all, {}, daily);
    expect(late.answers.filter(({ error }) => error)).toHaveLength(15);
    expect(limitsOf(late)).toMatchObject({ limit: 25, remaining: 0 });
  });

  test("is refused as a whole if one of its messages breaks a rule", async () => {
    const good = change("good", 3, { delta: -1 });
    const ping = (id: unknown) => earlier("ping", {}, id);
    const meta = { "io.modelcontextprotocol/protocolVersion": revisions[0] };
    const counted = await service.issueKey({ limits: { perMinute: 100, perDay: 1_000 } });
    const bad: [string[], Record<string, string>?][] = [
      [[]],
      [Array.from({ length: 21 }, (_, at) => ping(at))],
      [Array.from({ length: 21 }, () => note("notifications/initialized"))],
      [[good, "null"]],
      [[good, "1"]],
      [[good, '"ping"']],
      [[good, "{}"]],
      [[good, `[${ping(1)}]`]],
      [["[]"]],
      [[good, ping("good")]],
      [[ping(1), good, ping(1)]],
      [[good, earlier("initialize", { protocolVersion: revisions[3] }, 2)]],
      [[good, note("initialize")]],
      [[good, earlier("ping", { _meta: meta }, 2)]],
      [[good, earlier("ping", [], 2)]],
      [[good, '{"jsonrpc":"2.0","id":null,"method":"ping"}']],
      [[good, '{"jsonrpc":"2.0","id":2}']],
      [[good, '{"jsonrpc":"2.0","id":2,"method":"ping","id":3}']],
      ...revisions.slice(0, 3).map((one): [string[], object] => [[good], version(one)]),
      ...["2024-11-05", ""].map((one): [string[], object] => [[good], version(one)]),
    ] as [string[], Record<string, string>?][];
    await expectUnchanged(service.store, async () => {
      for (const [at, [messages, headers]] of bad.entries()) {
        const answer = await send(messages, headers, counted);
        expectError(answer, "invalid_request");
        expect(answer.text).toMatch(
          /has arrays: of 1 to 20|one message of JSON-RPC|must not be repeated/,
        );
        // Counted once.
        expect(limitsOf(answer).remaining).toBe(99 - at);
      }
      const large = await send([good, ping("x".repeat(65_536))]);
      expectError(large, "payload_too_large");
    });
    const later = await send([good], version(revisions[2]));
    expect(later.text).toContain(`Only the revision ${revisions[3]} has arrays`);
    expect(service.logged).toEqual([]);
  });

  test("of notifications and responses has no answer, and is counted", async () => {
    const { text } = await service.issueKey({ limits: { perMinute: 6, perDay: 1_000 } });
    const answer = { jsonrpc: "2.0", id: 7, error: { code: -32_601, message: "none" } };
    const silent = [note("notifications/initialized"), JSON.stringify(answer), note("x")];
    const sent = await send(silent, version(revisions[3]), { id: "", text });
    expect([sent.status, sent.text, limitsOf(sent).remaining]).toEqual([202, "", 3]);
    // One of them alone, too.
    const body = JSON.stringify(answer);
    const alone = await service.call("POST", "~/mcp", { key: text, body });
    expect([alone.status, alone.text, limitsOf(alone).remaining]).toEqual([202, "", 2]);
  });
});

test("a message that fails does not hide what became of the others", async () => {
  await using stack = new AsyncDisposableStack();
  // The undo of what is long ago fails: its process does.
  const broken = { program: ["false"] };
  const service = await startTestService(surfaceEngine, { mcp: "on" }, {}, broken);
  stack.defer(service.stop);
  await service.addPets({ petId: 1n, quantity: 10 });
  const key = (await service.issueKey()).text;
  const use = (id: number, name: string, given: object = {}) =>
    earlier("tools/call", { name, arguments: given }, id);
  const sale = { changes: [{ petId: 1, delta: -1 }], reason: "sale" };
  const messages = [
    use(1, "change_stock", sale),
    use(2, "undo_session"),
    use(3, "change_stock", sale),
  ];
  const hello = await service.call("POST", "~/mcp", { key, body: earlier("initialize") });
  const headers = { "Mcp-Session-Id": hello.headers.get("Mcp-Session-Id")! };
  await service.call("POST", "~/mcp", { key, headers, body: use(0, "change_stock", sale) });
  await service.addPets(...Array.from({ length: 2_500 }, (_, at) => ({ petId: BigInt(at + 2) })));
  const answer = await service.call("POST", "~/mcp", {
    key,
    headers,
    body: `[${messages.join()}]`,
  });
  expect(answer.status).toBe(200);
  const [first, failed, last] = answer.json as [object, Answer, object];
  for (const one of [first, last]) expect(one).toMatchObject({ result: { isError: false } });
  const data = failed.error!.data as { requestId: string };
  expect(data).toMatchObject({ code: "unavailable", status: 503 });
  expect(service.logged.join()).toContain(`"requestId":"${data.requestId}"`);
  const outcome = await service.call("GET", `/requests/${data.requestId}`, { key });
  expect(outcome.json).toMatchObject({ outcome: "failed", error: { status: 503, path: "/mcp" } });
  const entry = await service.call("GET", "/inventory/1", { key });
  expect(entry.json).toMatchObject({ quantity: 7 });
});

test("the rest of an array is refused even if the next minute begins meanwhile", async () => {
  await using stack = new AsyncDisposableStack();
  const clock = createTestClock();
  const statuses: number[] = [];
  const observer = ({ status }: { status: number }) => {
    statuses.push(status);
    if (status === 429) clock.advance(60_000);
  };
  const extras = { clock, observer };
  const service = await startTestService(surfaceEngine, { mcp: "on" }, {}, extras);
  stack.defer(service.stop);
  const { text: key } = await service.issueKey({ limits: { perMinute: 2, perDay: 100 } });
  const body = `[${[1, 2, 3, 4].map((id) => earlier("ping", {}, id)).join()}]`;
  const answer = await service.call("POST", "~/mcp", { key, body });
  const isRefused = (answer.json as Answer[]).map(({ error }) => error !== undefined);
  expect(isRefused).toEqual([false, false, true, true]);
  // The last one is that of the array.
  expect(statuses).toEqual([200, 200, 429, 200]);
});
