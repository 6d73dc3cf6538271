import { describe, expect, test } from "bun:test";
import { type ClientOptions, PetstoreClient } from "../../client/src/index.ts";
import { apiKey, ScriptedServer } from "../support/client/scripted-server.ts";

const good = { baseUrl: "http://127.0.0.1:1/v1", apiKey };
const make = (options: object) => () => new PetstoreClient({ ...good, ...options });
const failureOf = (work: Promise<unknown>) => work.catch((reason: unknown) => reason);

describe("an option that cannot work is refused with a sentence that says what to pass", () => {
  test("when there are no options at all", () => {
    for (const nothing of [undefined, null, "http://127.0.0.1:1/v1"]) {
      const call = () => new PetstoreClient(nothing as unknown as ClientOptions);
      expect(call).toThrow('new PetstoreClient({ baseUrl: "…/v1", apiKey: "…" })');
    }
  });

  test("baseUrl", () => {
    for (const baseUrl of [undefined, null, ""]) {
      expect(make({ baseUrl })).toThrow("baseUrl is missing. Pass the base URL");
    }
    for (const baseUrl of [
      "127.0.0.1:8080/v1",
      "localhost:8080/v1",
      "ftp://host/v1",
      "/v1",
      8080,
    ]) {
      expect(make({ baseUrl })).toThrow("begins with http:// or https://");
    }
    expect(make({ baseUrl: "http://host/v1?x=1" })).toThrow("must not contain a query");
    expect(make({ baseUrl: "http://user:secret@host/v1" })).toThrow("a fragment or credentials");
    expect(make({ baseUrl: "http://user:secret@host/v1" })).not.toThrow("secret");
  });

  test("baseUrl without /v1, and with more than that", () => {
    const corrections = {
      "https://petstore.example": "https://petstore.example/v1",
      "http://127.0.0.1:8080/": "http://127.0.0.1:8080/v1",
      "https://host/petstore": "https://host/petstore/v1",
      "https://host/v1/inventory": "https://host/v1",
      "https://host/xv1": "https://host/xv1/v1",
    };
    for (const [baseUrl, meant] of Object.entries(corrections)) {
      expect(make({ baseUrl })).toThrow("must end in /v1");
      expect(make({ baseUrl })).toThrow(`Did you mean ${meant}?`);
      expect(make({ baseUrl: meant })).not.toThrow();
      expect(make({ baseUrl: new URL(`${meant}/`) })).not.toThrow();
    }
  });

  test("apiKey, without showing it", () => {
    for (const key of [undefined, null, ""]) {
      expect(make({ apiKey: key })).toThrow("apiKey is missing. Pass your API key");
    }
    for (const key of ["psk_live_secret\n", "psk live secret", "psk_ſecret", 5]) {
      expect(make({ apiKey: key })).toThrow("apiKey must be a string of visible ASCII");
      expect(make({ apiKey: key })).not.toThrow("secret");
    }
  });

  test("numbers", () => {
    expect(make({ attemptsMax: 0 })).toThrow("attemptsMax must be a number of at least 1, not 0");
    expect(make({ timeoutMs: Number.NaN })).toThrow("timeoutMs");
    expect(make({ timeoutMs: "5000" })).toThrow("timeoutMs must be a number");
    expect(make({ parallelMax: 0 })).toThrow("parallelMax");
    expect(make({ backoffBaseMs: -1 })).toThrow("backoffBaseMs");
  });

  test("names that do not exist", () => {
    expect(make({ baseURL: "http://host/v1" })).toThrow(
      'Unknown option "baseURL". Did you mean baseUrl?',
    );
    expect(make({ token: "x" })).toThrow('Unknown option "token". Valid names are baseUrl, apiKey');
    expect(make({ hooks: { onretry: () => {} } })).toThrow(
      'Unknown hook "onretry". Did you mean onRetry?',
    );
    expect(make({ hooks: { onRetry: true } })).toThrow("hooks.onRetry must be a function");
  });
});

describe("headers", () => {
  test("of the client go with every request, and those of a call on top", async () => {
    await using server = new ScriptedServer();
    const headers = { "X-Shop": "north", "X-Till": "1" };
    const client = new PetstoreClient({ baseUrl: server.baseUrl, apiKey, headers });
    await client.listInventory();
    await client.listInventory({
      headers: { "x-till": "2", "x-shop": undefined, "X-More": "a b" },
    });
    await client.listInventory();
    const seen = server.received.map(({ headers }) =>
      ["x-shop", "x-till", "x-more"].map((name) => headers.get(name)),
    );
    expect(seen).toEqual([
      ["north", "1", null],
      [null, "2", "a b"],
      ["north", "1", null],
    ]);
    expect(server.received[1]?.headers.get("authorization")).toBe(`Bearer ${apiKey}`);
  });

  test("may replace the User-Agent", async () => {
    await using server = new ScriptedServer();
    const headers = { "user-agent": "till/3" };
    await new PetstoreClient({ baseUrl: server.baseUrl, apiKey, headers }).listInventory();
    expect(server.received[0]?.headers.get("user-agent")).toBe("till/3");
  });

  test("hold no User-Agent in a page, even if it has Node's `process`", async () => {
    await using server = new ScriptedServer();
    const page = globalThis as { document?: unknown };
    page.document = {};
    try {
      await new PetstoreClient({ baseUrl: server.baseUrl, apiKey }).listInventory();
    } finally {
      delete page.document;
    }
    expect(server.received[0]?.headers.get("user-agent")).not.toContain("petstore");
  });

  test("that the client sets itself are refused, and nothing is sent", async () => {
    await using server = new ScriptedServer();
    const client = new PetstoreClient({ baseUrl: server.baseUrl, apiKey });
    const instead = {
      authorization: "apiKey",
      Authorization: "apiKey",
      "Idempotency-Key": "idempotencyKey",
      "If-None-Match": "ETag",
      Host: "baseUrl",
      "Content-Type": "JSON",
    };
    for (const [name, hint] of Object.entries(instead)) {
      const headers = { [name]: "secret" };
      expect(make({ headers })).toThrow(`The header ${name} is reserved`);
      expect(make({ headers })).not.toThrow("secret");
      const error = await failureOf(client.listInventory({ headers }));
      expect(error).toBeInstanceOf(TypeError);
      expect(String(error)).toContain(hint);
    }
    expect(server.received).toEqual([]);
  });

  test("that no request can carry are refused, without showing the value", () => {
    expect(make({ headers: { "X Y": "1" } })).toThrow('"X Y" is not a valid header name');
    for (const value of ["secret\r\nX-Evil: 1", "secret\u0000", "ſecret", 5]) {
      expect(make({ headers: { "X-Y": value } })).toThrow("The header X-Y must be a string");
      expect(make({ headers: { "X-Y": value } })).not.toThrow("ecret");
    }
  });
});

describe("an idempotency key of the caller's own", () => {
  const done = () => new Response('{"petId":1,"quantity":3,"status":"sold"}');

  test("is sent as a structured string with every attempt", async () => {
    await using server = new ScriptedServer();
    const client = new PetstoreClient({ baseUrl: server.baseUrl, apiKey, backoffBaseMs: 0 });
    server.play(() => new Response(null, { status: 503 }), done, done);
    const send = (idempotencyKey: string) =>
      client.updateInventory(1, { quantity: 3 }, { idempotencyKey });
    server.play(done);
    await send("delivery-42");
    await send('a "quoted" \\ key');
    expect(server.received.map(({ headers }) => headers.get("idempotency-key"))).toEqual([
      '"delivery-42"',
      '"delivery-42"',
      '"a \\"quoted\\" \\\\ key"',
    ]);
  });

  test("that no header can carry is refused, and nothing is sent", async () => {
    await using server = new ScriptedServer();
    const client = new PetstoreClient({ baseUrl: server.baseUrl, apiKey });
    for (const idempotencyKey of ["", "a\nb", "é", "x".repeat(256), 5 as unknown as string]) {
      const error = await failureOf(client.updateInventory(1, { quantity: 3 }, { idempotencyKey }));
      expect(error).toBeInstanceOf(TypeError);
      expect(String(error)).toContain("1 to 255 printable ASCII characters");
    }
    expect(server.received).toEqual([]);
  });
});
