import { expect, test } from "bun:test";
import { gzipSync } from "node:zlib";
import { scopes } from "../../src/domain/keys/keys.ts";
import { onEveryEngine, statusesOf, withService } from "../support/conformance.ts";
import { operations } from "../support/operations.ts";
import { expectError, expectUnchanged } from "../support/responses.ts";
import type { TestResponse } from "../support/service.ts";
import { connectRaw } from "../support/socket.ts";

const messageOf = (response: TestResponse) => (response.json as { message: string }).message;

onEveryEngine("responses", (service, engine) => {
  const limited = (perMinute: number, perDay: number) =>
    service().issueKey({ plan: "enterprise", limits: { perMinute, perDay } });
  const list = (key?: string) => service().call("GET", "/inventory", { key });

  test("[open.too-many-message] a 429 names the exhausted window and its reset time", async () => {
    service().clock.set(Date.UTC(2026, 10, 20, 12, 0, 18));
    const { text: minute } = await limited(2, 10);
    const { text: day } = await limited(10, 2);
    await statusesOf(2, () => list(minute));
    await statusesOf(2, () => list(day));
    expect(messageOf(await list(minute))).toBe(
      "The rate limit of 2 requests per minute is exceeded. It resets at 2026-11-20T12:01:00Z, in 42 s.",
    );
    expect(messageOf(await list(day))).toBe(
      "The rate limit of 2 requests per day is exceeded. It resets at 2026-11-21T00:00:00Z, in 43182 s.",
    );
    await withService(engine, { "address-per-minute": "1" }, async (few) => {
      few.clock.set(Date.UTC(2026, 10, 20, 12, 0, 18));
      await few.call("GET", "/inventory");
      expect(messageOf(await few.call("GET", "/inventory"))).toBe(
        "The rate limit of 1 request per minute without a valid key is exceeded for this address. It resets at 2026-11-20T12:01:00Z, in 42 s.",
      );
    });
  });

  test("[open.ban-ratelimit] RateLimit of a banned key shows no reset before Retry-After", async () => {
    // Two minutes before midnight: the ban outlasts both windows.
    service().clock.set(Date.UTC(2026, 10, 20, 23, 58, 0));
    const { text: key } = await limited(2, 1_000);
    await statusesOf(3, () => list(key));
    service().clock.advance(1_001);
    await statusesOf(19, () => list(key));
    const banned = await list(key);
    expectError(banned, "key_banned");
    expect(banned.headers.get("Retry-After")).toBe("300");
    expect(banned.headers.get("RateLimit")).toBe('"minute";r=0;t=300, "day";r=998;t=300');
    expect(messageOf(banned)).toBe(
      "This key is banned until 2026-11-21T00:03:02Z because it kept sending requests after 429 responses. Retry in 300 s.",
    );
    service().clock.advance(299_000);
    const late = await list(key);
    expect(late.headers.get("Retry-After")).toBe("1");
    for (const [, seconds] of late.headers.get("RateLimit")!.matchAll(/t=(\d+)/g)) {
      expect(Number(seconds)).toBeGreaterThanOrEqual(1);
    }
  });

  test("[open.scope-challenge] a 403 for a missing scope names the scope in WWW-Authenticate", async () => {
    for (const { method, path, scope } of operations) {
      const others = scopes.filter((one) => one !== scope);
      const { text: key } = await service().issueKey({ scopes: others });
      const response = await service().call(method, path.replace("{petId}", "1"), { key });
      expectError(response, "insufficient_scope");
      expect(response.headers.get("WWW-Authenticate")).toBe(
        `Bearer realm="petstore", error="insufficient_scope", scope="${scope}"`,
      );
    }
  });

  test("[open.content-coding] a compressed body gets 415 with Accept-Encoding: identity", async () => {
    const { text: key } = await service().issueKey();
    await service().addPets({ petId: 1n, quantity: 3 });
    const body = '{"quantity":5}';
    const patch = (coding: string, sent: BodyInit) =>
      service().call("PATCH", "/inventory/1", {
        key,
        body: sent,
        headers: { "Content-Encoding": coding },
      });
    await expectUnchanged(service().store, async () => {
      const sent: [string, BodyInit][] = [
        ["gzip", gzipSync(body)],
        ["br", body],
        ["identity, gzip", body],
        ["nonsense", body],
      ];
      for (const [coding, bytes] of sent) {
        const response = await patch(coding, bytes);
        expectError(response, "unsupported_media_type");
        expect(response.headers.get("Accept-Encoding")).toBe("identity");
      }
      const headers = { "Content-Type": "text/plain" };
      const other = await service().call("PATCH", "/inventory/1", { key, body, headers });
      expectError(other, "unsupported_media_type");
      expect(other.headers.has("Accept-Encoding")).toBe(false);
    });
    expect((await patch("Identity", body)).status).toBe(200);
  });

  test("[open.caching] pets and orders may be cached but must be revalidated", async () => {
    const { text: key } = await service().issueKey();
    await service().addPets({ petId: 1n });
    for (const path of ["/pets/1", "/store/orders"]) {
      for (const method of ["GET", "HEAD"]) {
        const response = await service().call(method, path, { key });
        expect(response.headers.get("Cache-Control")).toBe("no-cache");
      }
    }
    const rejected = await service().call("GET", "/pets/404", { key });
    expect(rejected.headers.get("Cache-Control")).toBe("no-store");
    expect((await list(key)).headers.get("Cache-Control")).toBe("private, no-cache");
  });

  test("[open.host] two Host headers or an invalid one get 400, and nothing changes", async () => {
    const { text: key } = await service().issueKey();
    await service().addPets({ petId: 1n, quantity: 3 });
    const body = '{"quantity":5}';
    const ask = async (hosts: string, line: string, path: string) => {
      const client = await connectRaw(service().baseUrl);
      const authorization = `Authorization: Bearer ${key}\r\nContent-Length: ${body.length}`;
      client.send(`${line} ${path} HTTP/1.1\r\n${hosts}\r\n${authorization}\r\n\r\n${body}`);
      const response = await client.answer();
      client.abort();
      return response;
    };
    const wrong = ["::::", "a b", "a%", "a?b#c", "x/v1/y?", "a@b", "[::1", "a:b", "a:80:80", "é"];
    const hosts = wrong.map((host) => `Host: ${host}`);
    await expectUnchanged(service().store, async () => {
      for (const host of [...hosts, "Host: shop\r\nHost: shop", "Host: shop\r\nHost: other"]) {
        const response = await ask(host, "PATCH", "/v1/inventory/1");
        expectError(response, "invalid_request");
        expect(messageOf(response)).toContain("Host");
        for (const path of ["/v1/nothing", "/v1/inventory"]) {
          expectError(await ask(host, "GET", path), "invalid_request");
        }
        for (const path of ["/docs", "/openapi.json", "/healthz", "/nothing"]) {
          const page = await ask(host, "GET", path);
          expect([host, path, page.status]).toEqual([host, path, 400]);
          expect(page.json).toMatchObject({ code: "invalid_request", status: 400 });
        }
      }
    });
    const right = ["shop", "shop:8080", "127.0.0.1:1", "[::1]:80", "[::1]", "a_b.example.", "a%41"];
    for (const host of [...right, "", "xn--bcher-kva.example", "shop:"]) {
      const response = await ask(`Host: ${host}`, "GET", "/v1/inventory");
      expect([host, response.status]).toEqual([host, 200]);
    }
  });
});
