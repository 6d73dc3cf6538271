import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { verify } from "../src/domain/verification/verify.ts";
import { expectError, expectUnchanged } from "./support/responses.ts";
import {
  startTestService,
  surfaceEngine,
  type TestResponse,
  type TestService,
} from "./support/service.ts";
import { connectRaw } from "./support/socket.ts";

const bodyBytesMax = 256 * 1024;

const batch = (...changes: readonly string[]) => `{"changes":[${changes.join()}]}`;
const nested = (depth: number) => "[".repeat(depth) + "]".repeat(depth);
const repeat = (text: string, count: number) => Array<string>(count).fill(text).join();

/** The service may close the connection before the client has sent the whole body and reads. */
function ignoreReset(error: unknown): undefined {
  if ((error as { code?: string }).code !== "ECONNRESET") throw error;
}

describe.each([surfaceEngine])("hostile writes on %s", (engine) => {
  let service: TestService;
  let key: string;
  beforeAll(async () => {
    service = await startTestService(engine, { "idle-timeout-seconds": "5" });
    const limits = { perMinute: 1_000_000, perDay: 1_000_000 };
    key = (await service.issueKey({ plan: "enterprise", limits })).text;
    await service.addPets({ petId: 1n, quantity: 3 }, { petId: 2n, quantity: 0 });
  });
  afterAll(() => service.stop());

  const post = (body: string, headers: Record<string, string> = {}) =>
    // Each on its own connection: fetch may reuse one whose large body the server has just answered.
    service.call("POST", "/changes", { key, body, headers, keepalive: false });
  const patch = (headers: Record<string, string>, body = '{"quantity":4}') =>
    service.call("PATCH", "/inventory/1", { key, body, headers });
  const unchanged = <T>(work: () => Promise<T>) => expectUnchanged(service.store, work);
  const tipSeq = async () => (await service.store.history.readTip()).seq;

  const worst: [string, string][] = [
    ["a quarter of a million brackets", "[".repeat(bodyBytesMax)],
    ["changes nested 100,000 deep", batch(nested(100_000))],
    ["objects nested 40,000 deep", `${'{"changes":'.repeat(20_000)}1${"}".repeat(20_000)}`],
    ["a pet with 250,000 digits", batch(`{"petId":${"9".repeat(250_000)},"delta":1}`)],
    ["a delta with 100,000 digits", batch(`{"petId":1,"delta":${"9".repeat(100_000)}}`)],
    ["an exponent with 100,000 digits", batch(`{"petId":1,"delta":1e${"9".repeat(100_000)}}`)],
    ["a fraction with 100,000 digits", batch(`{"petId":1,"delta":1.${"0".repeat(99_999)}1}`)],
    ["130,000 changes that are none", batch(repeat("0", 130_000))],
    ["an unknown field nested 100,000 deep", batch(`{"petId":1,"delta":1,"x":${nested(100_000)}}`)],
    [
      "an unknown field with a name of 250,000 characters",
      batch(`{"petId":1,"${"x".repeat(250_000)}":1}`),
    ],
    ["a field that is repeated 26,000 times", batch(`{"petId":1,${repeat('"delta":1', 26_000)}}`)],
    ["50,000 fields without a name", batch(`{${repeat('"":0', 50_000)}}`)],
    ["1,001 changes", batch(repeat('{"petId":1,"delta":1}', 1_001))],
    ["a reason that ends in half a character", batch('{"petId":1,"delta":1,"reason":"\\ud83d"}')],
  ];
  // Bodies are parsed before the store is used, so that one engine is enough.
  test.each(engine === "sqlite" ? worst : [])(
    "a batch with %s returns 400 and changes nothing",
    async (_what, body) => {
      expect(Buffer.byteLength(body)).toBeLessThanOrEqual(bodyBytesMax);
      expectError(await unchanged(() => post(body)), "invalid_request");
    },
  );

  test("a batch of 256 KiB is stored, whatever fills it", async () => {
    const cat = "🐱".repeat(200);
    const reasons = batch(repeat(`{"petId":1,"delta":1,"reason":"${cat}"}`, 300));
    const zeros = batch(`{"petId":1,"delta":1.${"0".repeat(250_000)}}`);
    for (const [body, rows] of [
      [reasons, 300],
      [zeros, 1],
    ] as const) {
      const before = await tipSeq();
      const spaced = body + " ".repeat(bodyBytesMax - Buffer.byteLength(body));
      const response = await post(spaced);
      expect([response.status, (await tipSeq()) - before]).toEqual([200, rows]);
      const refused = await unchanged(() => post(`${spaced} `).catch(ignoreReset));
      if (refused) expectError(refused, "payload_too_large");
    }
    const stored = await service.store.inventory.ledgerAfter(2, 1);
    expect(stored).toMatchObject([{ reason: cat }]);
  });

  test("a batch over 256 KiB returns 413 before it has arrived", async () => {
    const head = (...more: string[]) =>
      [
        "POST /v1/changes HTTP/1.1",
        "Host: shop",
        `Authorization: Bearer ${key}`,
        ...more,
        "",
        "",
      ].join("\r\n");
    const declared = await connectRaw(service.baseUrl);
    declared.send(head(`Content-Length: ${bodyBytesMax + 1}`));
    expectError(await declared.answer(), "payload_too_large");
    declared.abort();
    const endless = await connectRaw(service.baseUrl);
    const text = " ".repeat(bodyBytesMax + 1);
    endless.send(`${head("Transfer-Encoding: chunked")}${text.length.toString(16)}\r\n${text}\r\n`);
    expectError(await endless.answer(), "payload_too_large");
    endless.abort();
  });

  test("a client that disconnects while it sends a batch changes nothing", async () => {
    await unchanged(async () => {
      for (let times = 0; times < 10; times++) {
        const client = await connectRaw(service.baseUrl);
        client.send(
          `POST /v1/changes HTTP/1.1\r\nHost: shop\r\nAuthorization: Bearer ${key}\r\nContent-Length: 1000\r\n\r\n${batch('{"petId":1,"delta":1}')}`,
        );
        client.abort();
      }
      expect((await service.call("GET", "/inventory/1", { key })).status).toBe(200);
    });
  });

  test("integers at the edge of 2^53 are exact or rejected, never rounded", async () => {
    const change = (field: string, value: string) => post(batch(`{"petId":2,${field}:${value}}`));
    const [max, over, further] = ["9007199254740991", "9007199254740992", "9007199254740993"];
    await unchanged(async () => {
      for (const value of [over, further, `${max}.5`, "9007199254740991.0000000000000001"]) {
        for (const field of ['"quantity"', '"delta"', '"delta":1,"expectedVersion"']) {
          expectError(await change(field, value!), "invalid_request");
        }
        expectError(await change('"delta"', `-${value}`), "invalid_request");
      }
      expectError(await change('"delta":1,"expectedVersion"', max!), "version_conflict", 1);
      for (const value of ["0", "-1", "0.0"]) {
        expectError(await change('"delta":1,"expectedVersion"', value), "invalid_request");
      }
    });
    expect((await change('"delta"', max!)).text).toContain(`"quantity":${max},`);
    expectError(await unchanged(() => change('"delta"', "1")), "insufficient_stock", 1);
    expectError(await unchanged(() => change('"delta"', max!)), "insufficient_stock", 1);
    expect((await change('"delta"', "-0")).text).toContain(`"quantity":${max},`);
    expect((await change('"delta"', `-${max}`)).text).toContain('"quantity":0,');
    expectError(await unchanged(() => change('"delta"', "-1")), "insufficient_stock", 1);
    expect((await change('"quantity"', `${max}.0`)).text).toContain(`"quantity":${max},`);
  });

  /** Splits responses into those that executed the request, replays, and the rest by their code. */
  const sortOut = (responses: readonly TestResponse[]) => ({
    executed: responses.filter((one) => one.status === 200 && !isReplay(one)),
    replayed: responses.filter(isReplay),
    reused: responses.filter(({ status }) => status === 422),
  });
  const isReplay = ({ headers }: TestResponse) => headers.get("Idempotent-Replayed") === "true";

  test("64 parallel requests with one idempotency key add one row and get one result", async () => {
    for (let round = 0; round < 2; round++) {
      const headers = { "Idempotency-Key": `"parallel ${round}"` };
      const before = await tipSeq();
      const send = () =>
        round % 2 ? post(batch('{"petId":1,"delta":1}'), headers) : patch(headers);
      const responses = await Promise.all(Array.from({ length: 64 }, send));
      const { executed, replayed } = sortOut(responses);
      expect([executed.length, replayed.length]).toEqual([1, 63]);
      const results = responses.map(({ text, headers: got }) => `${text} ${got.get("ETag")}`);
      expect(new Set(results).size).toBe(1);
      expect((await tipSeq()) - before).toBe(1);
    }
  });

  test("of parallel requests that share an idempotency key only one is executed, others get 422", async () => {
    const headers = { "Idempotency-Key": "shared" };
    const before = await tipSeq();
    const responses = await Promise.all(
      Array.from({ length: 64 }, (_, at) => post(batch(`{"petId":1,"delta":${at % 8}}`), headers)),
    );
    const { executed, replayed, reused } = sortOut(responses);
    expect([executed.length, replayed.length, reused.length]).toEqual([1, 7, 56]);
    for (const response of reused) expectError(response, "idempotency_key_reused");
    expect((await tipSeq()) - before).toBe(1);
  });

  test("64 parallel requests with one expected version change the entry once", async () => {
    const { headers } = await service.call("GET", "/inventory/1", { key });
    const ifMatch = { "If-Match": headers.get("ETag")! };
    const before = await tipSeq();
    const responses = await Promise.all(
      Array.from({ length: 64 }, (_, at) => patch(ifMatch, `{"quantity":${at}}`)),
    );
    const stored = responses.filter(({ status }) => status === 200);
    expect(stored).toHaveLength(1);
    for (const response of responses.filter(({ status }) => status !== 200)) {
      expectError(response, "precondition_failed");
      expect(response.headers.get("ETag")).toBe(stored[0]!.headers.get("ETag"));
    }
    expect((await tipSeq()) - before).toBe(1);
  });

  test("a header that is sent twice is a list: two tags are one condition, two keys are invalid", async () => {
    const tag = (await service.call("GET", "/inventory/1", { key })).headers.get("ETag")!;
    const send = async (...lines: string[]) => {
      const client = await connectRaw(service.baseUrl);
      const body = '{"quantity":5}';
      const head = ["PATCH /v1/inventory/1 HTTP/1.1", "Host: shop", `Authorization: Bearer ${key}`];
      client.send([...head, `Content-Length: ${body.length}`, ...lines, "", body].join("\r\n"));
      const response = await client.answer();
      client.abort();
      return response;
    };
    expectError(
      await unchanged(() => send('If-Match: "x-1"', 'If-Match: W/"y-2"')),
      "precondition_failed",
    );
    expectError(
      await unchanged(() => send("Idempotency-Key: a", "Idempotency-Key: a")),
      "invalid_request",
    );
    expect((await send('If-Match: "x-1"', `If-Match: ${tag}`)).status).toBe(200);
    expectError(
      await unchanged(() => send(`If-Match: ${repeat('"x-1"', 2_000)}`)),
      "precondition_failed",
    );
  });

  test("after all of this the service works, its log has no bug and its ledger is sound", async () => {
    expect((await service.call("GET", "/inventory", { key })).status).toBe(200);
    expect(service.logged.filter((line) => line.includes("bug"))).toEqual([]);
    expect((await service.store.transfer.snapshot(verify)).faults).toEqual([]);
  });
});
