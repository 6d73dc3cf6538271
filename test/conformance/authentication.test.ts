import { expect, test } from "bun:test";
import { generateKeyText } from "../../src/domain/keys/keys.ts";
import { anEntry } from "../support/audit.ts";
import { onEveryEngine } from "../support/conformance.ts";
import { operations } from "../support/operations.ts";
import { expectError } from "../support/responses.ts";

onEveryEngine("authentication", (service) => {
  const withHeader = (value: string) =>
    service().call("GET", "/inventory", { headers: { Authorization: value } });

  const bearer = (key: string) => ({ Authorization: `Bearer ${key}` });

  test("[auth.1] the key is accepted only as 'Authorization: Bearer <API_KEY>'", async () => {
    const { text } = await service().issueKey();
    expect((await withHeader(`Bearer ${text}`)).status).toBe(200);
    expect((await withHeader(`bearer ${text}`)).status).toBe(200);
    expectError(await withHeader(text), "unauthorized");
    expectError(await withHeader(`Basic ${btoa(`${text}:`)}`), "unauthorized");
    expectError(await service().call("GET", `/inventory?api_key=${text}`), "unauthorized");
    const headers = { "X-Api-Key": text, Cookie: `key=${text}` };
    expectError(await service().call("GET", "/inventory", { headers }), "unauthorized");
  });

  test("[auth.2] every operation requires a key", async () => {
    for (const { method, path } of operations) {
      expectError(await service().call(method, path.replace(/\{\w+\}/, "1")), "unauthorized");
    }
  });

  test("[auth.3] a missing or invalid key gets 401 with an Error body", async () => {
    expectError(await service().call("GET", "/inventory"), "unauthorized");
    expectError(await withHeader("Bearer nonsense"), "unauthorized");
  });

  test("[open.unauthorized] an unknown, an expired and a revoked key get the same response, with a challenge", async () => {
    const now = service().clock.now();
    const revoked = await service().issueKey();
    await service().store.keys.revokeKey(revoked.id, now, anEntry);
    const expired = await service().issueKey({ expiresAt: now });
    const responses = [];
    for (const key of [revoked.text, expired.text, generateKeyText("production")]) {
      responses.push(await withHeader(`Bearer ${key}`));
    }
    responses.push(await withHeader("Bearer"));
    for (const response of responses) {
      expectError(response, "unauthorized");
      expect(response.text).toBe(responses[0]!.text);
      expect(response.headers.get("WWW-Authenticate")).toBe(
        'Bearer realm="petstore", error="invalid_token"',
      );
    }
    const missing = await service().call("GET", "/inventory");
    expect(missing.text).toBe(responses[0]!.text);
    expect(missing.headers.get("WWW-Authenticate")).toBe('Bearer realm="petstore"');
  });

  test("[open.unauthorized-text] a 401 names what the sent text shows by itself", async () => {
    const { text } = await service().issueKey();
    const typo = text.slice(0, -1) + (text.endsWith("a") ? "b" : "a");
    const production = "and this is production.";
    const sent: [path: string, headers: Record<string, string>, expected: string][] = [
      ["/inventory", bearer(typo), "mistyped: its checksum does not match."],
      ["/inventory", bearer(text.slice(0, -7)), "incomplete or mistyped"],
      ["/inventory", bearer(generateKeyText("staging")), `belongs to staging, ${production}`],
      ["/inventory", bearer(generateKeyText("production", "operator")), "is an operator key"],
      ["/inventory", bearer(generateKeyText("staging", "operator")), `staging, ${production}`],
      ["/inventory", bearer("psk_test_abc"), "incomplete or mistyped"],
      ["/inventory", bearer("eyJhbGciOiJIUzI1NiJ9.e30.x"), "which starts with psk_live_."],
      ["/inventory", bearer(`${text} ${text}`), "A key has no spaces."],
      ["/inventory", { Authorization: text }, "does not use the scheme Bearer."],
      ["/inventory", { Authorization: `Basic ${btoa(text)}` }, "does not use the scheme Bearer."],
      ["/inventory", { "X-API-Key": text }, "A key in the header X-API-Key is not read."],
      [`/inventory?api_key=${text}`, {}, "A key in the query is not read"],
      [`/changes?limit=1&auth=${text}`, {}, "A key in the query is not read"],
      ["~/admin/keys", bearer(text), "is an API key, which only /v1 accepts."],
      ["~/admin/keys", bearer(generateKeyText("staging", "operator")), `staging, ${production}`],
    ];
    for (const [path, headers, expected] of sent) {
      const response = await service().call("GET", path, { headers });
      expectError(response, "unauthorized");
      expect(response.text).toContain(expected);
      expect(response.text).not.toContain(text);
    }
    const plain = (await service().call("GET", "/inventory")).text;
    for (const path of [
      "/inventory?limit=1",
      "/changes?key=key_1",
      "/changes?access_tokenizer=5",
    ]) {
      expect((await service().call("GET", path)).text).toBe(plain);
    }
  });

  test("[open.scopes] a key has every scope by default; a missing scope gets 403", async () => {
    const all = await service().issueKey();
    await service().addPets({ petId: 1n });
    const ask = (key: string) => service().call("GET", "/store/orders", { key });
    expect((await ask(all.text)).status).toBe(200);
    const narrow = await service().issueKey({ scopes: ["inventory:read"] });
    const response = await ask(narrow.text);
    expectError(response, "insufficient_scope");
    expect((response.json as { message: string }).message).toContain("orders:read");
    expect((await service().call("GET", "/inventory", { key: narrow.text })).status).toBe(200);
    const body = '{"quantity":1}';
    const write = await service().call("PATCH", "/inventory/1", { key: narrow.text, body });
    expectError(write, "insufficient_scope");
  });
});
