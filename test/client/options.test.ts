import { describe, expect, test } from "bun:test";
import { type ClientOptions, PetstoreClient } from "../../client/src/index.ts";
import { rejectionOf } from "../support/client/rejection.ts";
import { apiKey, ScriptedServer } from "../support/client/scripted-server.ts";

const validOptions = { baseUrl: "http://127.0.0.1:1/v1", apiKey };
const create = (options: object) => () => new PetstoreClient({ ...validOptions, ...options });

describe("an invalid option is an error that explains what to pass:", () => {
  test("no options", () => {
    for (const options of [undefined, null, "http://127.0.0.1:1/v1"]) {
      const call = () => new PetstoreClient(options as unknown as ClientOptions);
      expect(call).toThrow('new PetstoreClient({ baseUrl: "…/v1", apiKey: "…" })');
    }
  });

  test("baseUrl", () => {
    for (const baseUrl of [undefined, null, ""]) {
      expect(create({ baseUrl })).toThrow("baseUrl is missing. Pass the base URL");
    }
    for (const baseUrl of [
      "127.0.0.1:8080/v1",
      "localhost:8080/v1",
      "ftp://host/v1",
      "/v1",
      8080,
    ]) {
      expect(create({ baseUrl })).toThrow("begins with http:// or https://");
    }
    expect(create({ baseUrl: "http://host/v1?x=1" })).toThrow("must not contain a query");
    expect(create({ baseUrl: "http://user:secret@host/v1" })).toThrow("a fragment or credentials");
    expect(create({ baseUrl: "http://user:secret@host/v1" })).not.toThrow("secret");
  });

  test("baseUrl that does not end in /v1", () => {
    const corrections = {
      "https://petstore.example": "https://petstore.example/v1",
      "http://127.0.0.1:8080/": "http://127.0.0.1:8080/v1",
      "https://host/petstore": "https://host/petstore/v1",
      "https://host/v1/inventory": "https://host/v1",
      "https://host/xv1": "https://host/xv1/v1",
    };
    for (const [baseUrl, corrected] of Object.entries(corrections)) {
      expect(create({ baseUrl })).toThrow("must end in /v1");
      expect(create({ baseUrl })).toThrow(`Did you mean ${corrected}?`);
      expect(create({ baseUrl: corrected })).not.toThrow();
      expect(create({ baseUrl: new URL(`${corrected}/`) })).not.toThrow();
    }
  });

  test("apiKey, without the key in the message", () => {
    for (const key of [undefined, null, ""]) {
      expect(create({ apiKey: key })).toThrow("apiKey is missing. Pass your API key");
    }
    for (const key of ["psk_live_secret\n", "psk live secret", "psk_ſecret", 5]) {
      expect(create({ apiKey: key })).toThrow("apiKey must be a string of visible ASCII");
      expect(create({ apiKey: key })).not.toThrow("secret");
    }
  });

  test("numbers", () => {
    expect(create({ attemptsMax: 0 })).toThrow("attemptsMax must be a number of at least 1, not 0");
    expect(create({ timeoutMs: Number.NaN })).toThrow("timeoutMs");
    expect(create({ timeoutMs: "5000" })).toThrow("timeoutMs must be a number");
    expect(create({ parallelMax: 0 })).toThrow("parallelMax");
    expect(create({ backoffBaseMs: -1 })).toThrow("backoffBaseMs");
  });

  test("unknown names", () => {
    expect(create({ baseURL: "http://host/v1" })).toThrow(
      'Unknown option "baseURL". Did you mean baseUrl?',
    );
    expect(create({ token: "x" })).toThrow(
      'Unknown option "token". Valid names are baseUrl, apiKey',
    );
    expect(create({ hooks: { onretry: () => {} } })).toThrow(
      'Unknown hook "onretry". Did you mean onRetry?',
    );
    expect(create({ hooks: { onRetry: true } })).toThrow("hooks.onRetry must be a function");
  });
});

describe("headers", () => {
  test("of the client are sent with every request, and headers of a call override them", async () => {
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

  test("can replace the User-Agent", async () => {
    await using server = new ScriptedServer();
    const headers = { "user-agent": "till/3" };
    await new PetstoreClient({ baseUrl: server.baseUrl, apiKey, headers }).listInventory();
    expect(server.received[0]?.headers.get("user-agent")).toBe("till/3");
  });

  test("do not include a User-Agent in a browser, even if there is a `process` global", async () => {
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

  test("that only the client sets are rejected, and nothing is sent", async () => {
    await using server = new ScriptedServer();
    const client = new PetstoreClient({ baseUrl: server.baseUrl, apiKey });
    const hints = {
      authorization: "apiKey",
      Authorization: "apiKey",
      "Idempotency-Key": "idempotencyKey",
      "If-Match": "ifMatch",
      "X-Change-Reason": "reason",
      "If-None-Match": "ETag",
      Host: "baseUrl",
      "Content-Type": "JSON",
    };
    for (const [name, hint] of Object.entries(hints)) {
      const headers = { [name]: "secret" };
      expect(create({ headers })).toThrow(`The header ${name} is reserved`);
      expect(create({ headers })).not.toThrow("secret");
      const error = await rejectionOf(client.listInventory({ headers }));
      expect(error).toBeInstanceOf(TypeError);
      expect(String(error)).toContain(hint);
    }
    expect(server.received).toEqual([]);
  });

  test("that are invalid are rejected, without the value in the message", () => {
    expect(create({ headers: { "X Y": "1" } })).toThrow('"X Y" is not a valid header name');
    for (const value of ["secret\r\nX-Evil: 1", "secret\u0000", "ſecret", 5]) {
      expect(create({ headers: { "X-Y": value } })).toThrow("The header X-Y must be a string");
      expect(create({ headers: { "X-Y": value } })).not.toThrow("ecret");
    }
  });
});
