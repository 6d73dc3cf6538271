import { expect, test } from "bun:test";
import { generateKeyText } from "../../src/domain/keys.ts";
import { anEntry } from "../support/audit.ts";
import { onEveryEngine } from "../support/conformance.ts";
import { operations } from "../support/operations.ts";
import { expectError } from "../support/responses.ts";

onEveryEngine("authentication", (service) => {
  const withHeader = (value: string) =>
    service().call("GET", "/inventory", { headers: { Authorization: value } });

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

  test("[open.unauthorized] every kind of invalid key gets the same response, with a challenge", async () => {
    const now = service().clock.now();
    const revoked = await service().issueKey();
    await service().store.keys.revokeKey(revoked.id, now, anEntry);
    const expired = await service().issueKey({ expiresAt: now });
    const { text } = await service().issueKey();
    const typo = text.slice(0, -1) + (text.endsWith("a") ? "b" : "a");
    const bad = [revoked.text, expired.text, typo, generateKeyText("production"), "x"];
    const responses = [];
    for (const key of [...bad, generateKeyText("staging")]) {
      responses.push(await withHeader(`Bearer ${key}`));
    }
    responses.push(await withHeader("Bearer"), await withHeader(`Bearer ${text} ${text}`));
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
