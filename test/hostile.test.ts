import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import {
  expectCommonHeaders,
  expectError,
  expectUnchanged,
  limitsOf,
} from "./support/responses.ts";
import { startTestService, surfaceEngine, type TestService } from "./support/service.ts";
import { connectRaw, type RawClient } from "./support/socket.ts";

const update = '{"quantity":4}';

describe.each([surfaceEngine])("a hostile client on %s", (engine) => {
  let service: TestService;
  let key: string;
  beforeAll(async () => {
    service = await startTestService(engine);
    key = (await service.issueKey()).text;
    await service.addPets({ petId: 1n, quantity: 3 });
  });
  afterAll(() => service.stop());

  /**
   * A read does not wait. On PostgreSQL every request does, and Bun reads no other request of the
   * connection meanwhile.
   */
  const respondsAtOnce = engine === "sqlite";
  const head = (line: string, ...more: string[]) =>
    [`${line} HTTP/1.1`, "Host: shop", `Authorization: Bearer ${key}`, ...more, "", ""].join(
      "\r\n",
    );
  const get = () => head("GET /v1/inventory");
  const patch = (...more: string[]) => head("PATCH /v1/inventory/1", ...more);
  const open = () => connectRaw(service.baseUrl);
  const chunk = (text: string) => `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`;
  /** Checks that the connection still handles a normal request. */
  const expectUsable = async (client: RawClient) => {
    client.send(get());
    expect((await client.answer()).status).toBe(200);
    client.abort();
  };
  /** Sends one request and checks that the connection stays usable. */
  const ask = async (bytes: string | Uint8Array) => {
    const client = await open();
    client.send(bytes);
    const response = await client.answer();
    await expectUsable(client);
    return response;
  };
  const unchanged = <T>(work: () => Promise<T>) => expectUnchanged(service.store, work);

  test("a chunked body over 64 KiB returns 413 with an Error, and the connection stays open", async () => {
    const body = chunk("x".repeat(40_000)) + chunk("x".repeat(40_000)) + chunk("").slice(0, 5);
    const response = await unchanged(() => ask(patch("Transfer-Encoding: chunked") + body));
    expectError(response, "payload_too_large");
  });

  test("a chunked body that never ends returns 413 as soon as it is over 64 KiB", async () => {
    const client = await open();
    client.send(patch("Transfer-Encoding: chunked") + chunk("x".repeat(70_000)));
    expectError(await client.answer(), "payload_too_large");
    client.abort();
  });

  test("a declared length over 64 KiB returns 413 before any of the body arrives", async () => {
    const client = await open();
    client.send(patch("Content-Length: 65537"));
    expectError(await client.answer(), "payload_too_large");
    client.abort();
  });

  test("a chunked body within the bound is read completely, whatever its chunks", async () => {
    const pieces = [...update].map(chunk).join("");
    const response = await ask(`${patch("Transfer-Encoding: chunked") + pieces}0\r\n\r\n`);
    expect(response.json).toEqual({ petId: 1, quantity: 4, status: "available" });
  });

  test("a Content-Length shorter than the body returns 400, and the rest is not taken for a request", async () => {
    const client = await open();
    await unchanged(async () => {
      client.send(patch("Content-Length: 5") + update);
      expect(await client.closed()).toStartWith("HTTP/1.1 400 ");
    });
  });

  test("an incomplete body changes nothing, and its connection is closed", async () => {
    // A service of its own, which waits for less long than the other tests need on a busy machine.
    const impatient = await startTestService(engine, { "idle-timeout-seconds": "1" });
    const own = (await impatient.issueKey()).text;
    await impatient.addPets({ petId: 1n, quantity: 3 });
    const stalled = [
      patch("Content-Length: 100") + update,
      patch("Transfer-Encoding: chunked") + chunk(update),
    ].map((text) => text.replace(key, own));
    await expectUnchanged(impatient.store, async () => {
      const clients = await Promise.all(stalled.map(() => connectRaw(impatient.baseUrl)));
      clients.forEach((client, at) => {
        client.send(stalled[at]!);
      });
      expect(await Promise.all(clients.map((client) => client.closed()))).toEqual(["", ""]);
    });
    await impatient.stop();
  });

  test("a client that disconnects while it sends its body changes nothing", async () => {
    await unchanged(async () => {
      for (let times = 0; times < 20; times++) {
        const client = await open();
        client.send(patch("Content-Length: 100") + update);
        client.abort();
      }
      expect((await service.call("GET", "/inventory", { key })).status).toBe(200);
    });
  });

  test("pipelined requests that need no wait get responses in order, each with its own limits", async () => {
    await service.call("GET", "/inventory", { key });
    const client = await open();
    const requests = [get(), head("GET /v1/nothing"), head("GET /v1/pets/1"), get()];
    const responses = [];
    if (respondsAtOnce) client.send(requests.join(""));
    for (const request of requests) {
      if (!respondsAtOnce) client.send(request);
      responses.push(await client.answer());
    }
    expect(responses.map(({ status }) => status)).toEqual([200, 404, 200, 200]);
    const remaining = responses.map((response) => limitsOf(response).remaining);
    expect(remaining).toEqual([0, 1, 2, 3].map((used) => remaining[0]! - used));
    for (const response of responses) expectCommonHeaders(response);
    client.abort();
  });

  test("a response to HEAD has the headers of GET and no body", async () => {
    for (const path of ["/v1/inventory", "/v1/pets/1", "/v1/nothing"]) {
      const client = await open();
      client.send(head(`GET ${path}`));
      const full = await client.answer();
      client.send(head(`HEAD ${path}`));
      const bare = await client.answer("noBody");
      client.send(get());
      expect((await client.answer()).status).toBe(200);
      expect(bare.status).toBe(full.status);
      // Bun sends no Date in response to HEAD. Apart from it only the limits and the id differ.
      const own = ["date", "ratelimit", "x-ratelimit-remaining", "x-request-id"];
      const rest = (response: { headers: Headers }) =>
        [...response.headers].filter(([name]) => !own.includes(name)).sort();
      expect(rest(bare)).toEqual(rest(full));
      client.abort();
    }
  });

  test("Expect: 100-continue is confirmed before the body is sent, and then the update", async () => {
    const client = await open();
    client.send(patch("Content-Length: 14", "Expect: 100-continue"));
    expect((await client.answer()).status).toBe(100);
    client.send('{"quantity":6}');
    expect((await client.answer()).json).toEqual({ petId: 1, quantity: 6, status: "available" });
    await expectUsable(client);
  });

  test("two Authorization headers are invalid, even with the same valid key", async () => {
    const response = await ask(head("GET /v1/inventory", `Authorization: Bearer ${key}`));
    expectError(response, "unauthorized");
  });

  test("a request target in absolute form reaches the same operation", async () => {
    expect((await ask(head("GET http://elsewhere.example/v1/inventory"))).status).toBe(200);
    expectError(await ask(head("GET http://elsewhere.example/v1/nothing")), "not_found");
  });

  test("a percent-encoded id is accepted, and any other encoding returns 400", async () => {
    expect((await ask(head("GET /v1/pets/%31"))).status).toBe(200);
    const wrong = ["%zz", "%", "%FF", "%00", "1%00", "1%2F", "%2e", "%C3%A9", "1%3Fx", "1;a=b"];
    for (const id of wrong) {
      expectError(await ask(head(`GET /v1/pets/${id}`)), "invalid_request");
    }
    expectError(await ask(Buffer.from(head("GET /v1/pets/é"))), "invalid_request");
    expectError(await ask(head(`GET /v1/pets/${"1".repeat(8_000)}`)), "invalid_request");
  });

  test("paths are not normalised: other spellings return 404, and 401 without a key", async () => {
    const paths = ["/v1/%69nventory", "/v1//inventory", "/v1/inventory/", "/v1/x/../inventory"];
    for (const path of [...paths, "/v1/../healthz", "/v1/.", "/v1/inventory#x", "/v1/%zz"]) {
      expectError(await ask(head(`GET ${path}`)), "not_found");
      const keyless = head(`GET ${path}`).replace(`Bearer ${key}`, "Bearer x");
      expectError(await ask(keyless), "unauthorized");
    }
  });

  test("HTTP methods without an operation return 405 under the base path", async () => {
    for (const method of ["TRACE", "PROPFIND", "LOCK", "PURGE", "SEARCH"]) {
      const response = await unchanged(() => ask(head(`${method} /v1/inventory/1`)));
      expectError(response, "method_not_allowed");
      expect(response.headers.get("Allow")).toBe("GET, HEAD, PATCH, OPTIONS");
    }
  });

  test("a body on a GET is ignored and not taken for the next request", async () => {
    const body = head("GET /v1/nothing");
    const response = await ask(head("GET /v1/inventory", `Content-Length: ${body.length}`) + body);
    expect(response.status).toBe(200);
  });

  test("a connection stays usable after every kind of error", async () => {
    const client = await open();
    const requests: [string, number][] = [
      [head("GET /v1/nothing"), 404],
      [`${head("DELETE /v1/inventory", "Content-Length: 3")}abc`, 405],
      [`${patch("Content-Length: 2", "Content-Type: text/plain")}{}`, 415],
      [`${patch("Content-Length: 2")}{}`, 400],
      [patch("Content-Length: 70000") + "x".repeat(70_000), 413],
      [get().replace(key, "nonsense"), 401],
      [get(), 200],
    ];
    for (const [request, status] of requests) {
      client.send(request);
      expect((await client.answer()).status).toBe(status);
    }
    client.abort();
  });

  test("HTTP/1.0 requests get a response, and the connection is closed", async () => {
    const client = await open();
    client.send(`GET /v1/inventory HTTP/1.0\r\nAuthorization: Bearer ${key}\r\n\r\n`);
    expect((await client.answer()).status).toBe(200);
    await client.closed();
  });

  const rejectedByTheParser: [string, string, () => string][] = [
    [
      "[parser.1] headers over 16 KB get 431",
      "431",
      () => head("GET /v1/inventory", `X: ${"a".repeat(20_000)}`),
    ],
    [
      "[parser.2] a request without Host gets 400",
      "400",
      () => get().replace("Host: shop\r\n", ""),
    ],
    ["[parser.3] a malformed header gets 400", "400", () => head("GET /v1/inventory", "X : 1")],
    [
      "[parser.4] a length that is repeated, signed or combined with chunks gets 400",
      "400",
      () => patch("Content-Length: 14", "Content-Length: 15") + update,
    ],
    [
      "[parser.4] a length that is repeated, signed or combined with chunks gets 400",
      "400",
      () => patch("Content-Length: +14") + update,
    ],
    [
      "[parser.4] a length that is repeated, signed or combined with chunks gets 400",
      "400",
      () => patch("Content-Length: 14", "Transfer-Encoding: chunked") + update,
    ],
    [
      "[parser.5] a body over the parser's limit of 65 MiB gets 413",
      "413",
      () => patch(`Content-Length: ${65 * 1_048_576 + 1}`),
    ],
    ["[parser.6] OPTIONS * gets 400", "400", () => head("OPTIONS *")],
  ];
  const titles = [...new Set(rejectedByTheParser.map(([title]) => title))];
  test.each(titles)("%s, without a body, and closes", async (title) => {
    for (const [, status, request] of rejectedByTheParser.filter(([one]) => one === title)) {
      const client = await open();
      await unchanged(async () => {
        client.send(request());
        const rest = await client.closed();
        expect(rest).toStartWith(`HTTP/1.1 ${status} `);
        expect(rest).toEndWith("Connection: close\r\n\r\n");
      });
    }
  });

  test("[parser.7] an unknown method closes the connection without a response", async () => {
    const client = await open();
    client.send(head("FETCH /v1/inventory"));
    expect(await client.closed()).toBe("");
  });

  test("[parser.8] a request pipelined after an unfinished one closes the connection", async () => {
    const client = await open();
    client.send(`${patch("Content-Length: 14") + update}${get()}`);
    expect(await client.closed()).toBe("");
  });

  test("the service does not reveal its runtime", async () => {
    expect((await service.call("GET", "~/bun:info")).status).toBe(404);
  });

  test("after all of this the service works and its log has no bug", async () => {
    expect((await service.call("GET", "/inventory", { key })).status).toBe(200);
    expect(service.logged.filter((line) => line.includes("bug"))).toEqual([]);
  });
});
