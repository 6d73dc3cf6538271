import { expect, test } from "bun:test";
import { onEveryEngine, withService } from "../support/conformance.ts";
import { operations } from "../support/operations.ts";
import { expectCommonHeaders, expectError, limitsOf } from "../support/responses.ts";

onEveryEngine("one request", (service, engine) => {
  test("[pipeline.1] 404 and 405 are returned only after authentication and the rate limit", async () => {
    const limits = { perMinute: 2, perDay: 10 };
    const { text: key } = await service().issueKey({ plan: "enterprise", limits });
    expectError(await service().call("GET", "/nothing"), "unauthorized");
    expectError(await service().call("DELETE", "/inventory"), "unauthorized");
    expectError(await service().call("GET", "/nothing", { key }), "not_found");
    expectError(await service().call("DELETE", "/inventory", { key }), "method_not_allowed");
    expectError(await service().call("GET", "/nothing", { key }), "rate_limit_exceeded");
    expectError(await service().call("DELETE", "/inventory", { key }), "rate_limit_exceeded");
  });

  test("[pipeline.2] health checks are outside /v1 and need no key", async () => {
    for (const path of ["~/healthz", "~/readyz"]) {
      const response = await service().call("GET", path);
      expect(response.status).toBe(200);
      expect(response.headers.has("X-RateLimit-Limit")).toBe(false);
    }
    const { text: key } = await service().issueKey();
    expectError(await service().call("GET", "/healthz", { key }), "not_found");
  });

  test("[pipeline.3] the scope is checked before the input, and the input before the store", async () => {
    const { text: narrow } = await service().issueKey({ scopes: ["inventory:read"] });
    const bad = { key: narrow, body: "{" };
    expectError(await service().call("PATCH", "/inventory/x", bad), "insufficient_scope");
    const { text: key } = await service().issueKey();
    expectError(
      await service().call("PATCH", "/inventory/404", { key, body: "{" }),
      "invalid_request",
    );
  });

  test("[open.head] HEAD returns the same as GET, without a body", async () => {
    const { text: key } = await service().issueKey();
    await service().addPets({ petId: 1n });
    for (const path of ["/inventory", "/pets/1", "/pets/404", "/store/orders", "/nothing"]) {
      const get = await service().call("GET", path, { key });
      const head = await service().call("HEAD", path, { key });
      expect(head.status).toBe(get.status);
      expect(head.text).toBe("");
      expect(head.headers.get("Content-Length")).toBe(String(Buffer.byteLength(get.text)));
      expect(head.headers.get("Content-Type")).toBe(get.headers.get("Content-Type"));
      expectCommonHeaders(head);
    }
  });

  test("[open.options] OPTIONS returns 204 with Allow, needs no key and is counted by address", async () => {
    for (const { method, path } of operations) {
      const response = await service().call("OPTIONS", path.replace(/\{\w+\}/, "1"));
      expect(response.status).toBe(204);
      expect(response.text).toBe("");
      const allowed = response.headers.get("Allow")!.split(", ");
      expect(allowed).toContain(method);
      expect(allowed).toContain("OPTIONS");
      expect(allowed.includes("HEAD")).toBe(allowed.includes("GET"));
      expectCommonHeaders(response);
    }
    const limits = { perMinute: 1, perDay: 1 };
    const { text: key } = await service().issueKey({ plan: "enterprise", limits });
    const response = await service().call("OPTIONS", "/inventory", { key });
    expect(limitsOf(response).limit).toBe(300);
    expect((await service().call("GET", "/inventory", { key })).status).toBe(200);
    expectError(await service().call("OPTIONS", "/nothing"), "not_found");
  });

  test("[open.cors-off] no CORS header is sent until origins are configured", async () => {
    const { text: key } = await service().issueKey();
    const headers = { Origin: "https://shop.example", "Access-Control-Request-Method": "PATCH" };
    for (const method of ["GET", "OPTIONS"]) {
      const response = await service().call(method, "/inventory", { key, headers });
      const names = [...response.headers.keys()];
      expect(names.filter((name) => name.startsWith("access-control"))).toEqual([]);
    }
  });

  test("[open.cors] configured origins get preflights without a key, and exposed headers", async () => {
    await withService(engine, { "cors-origins": "https://shop.example" }, async (open) => {
      const { text: key } = await open.issueKey();
      const asked = { Origin: "https://shop.example", "Access-Control-Request-Method": "PATCH" };
      const preflight = await open.call("OPTIONS", "/inventory/1", { headers: asked });
      expect(preflight.status).toBe(204);
      const allow = preflight.headers;
      expect(allow.get("Access-Control-Allow-Origin")).toBe("https://shop.example");
      expect(allow.get("Access-Control-Allow-Methods")).toContain("PATCH");
      expect(allow.get("Access-Control-Allow-Headers")).toContain("Authorization");
      const responses = [
        await open.call("GET", "/inventory", { key, headers: asked }),
        await open.call("GET", "/inventory", { headers: asked }),
      ];
      for (const { headers } of responses) {
        expect(headers.get("Access-Control-Allow-Origin")).toBe("https://shop.example");
        expect(headers.get("Vary")).toContain("Origin");
        expect(headers.get("Content-Type")).toBe("application/json");
        const exposed = headers.get("Access-Control-Expose-Headers");
        const wanted = "X-RateLimit-Limit X-RateLimit-Remaining X-RateLimit-Reset Retry-After ETag";
        for (const name of `${wanted} X-Request-Id`.split(" ")) expect(exposed).toContain(name);
      }
      const known = { ...asked, "If-None-Match": "*" };
      for (const headers of [asked, known]) {
        const { headers: got } = await open.call("GET", "/inventory", { key, headers });
        expect(got.get("Vary")!.split(", ").sort()).toEqual(["Accept-Encoding", "Origin"]);
      }
      const stranger = { ...asked, Origin: "https://evil.example" };
      const rejected = await open.call("OPTIONS", "/inventory/1", { headers: stranger });
      expect(rejected.headers.has("Access-Control-Allow-Origin")).toBe(false);
    });
  });

  test("[open.preflights] a preflight from a configured origin is not counted and may be cached", async () => {
    const flags = { "cors-origins": "https://shop.example", "address-per-minute": "1" };
    await withService(engine, flags, async (open) => {
      const headers = {
        Origin: "https://shop.example",
        "Access-Control-Request-Method": "PATCH",
      };
      const ask = () => open.call("OPTIONS", "/inventory/1", { headers });
      expect(limitsOf(await ask())).toMatchObject({ limit: 1, remaining: 1 });
      expectError(await open.call("GET", "/inventory"), "unauthorized");
      expectError(await open.call("GET", "/inventory"), "rate_limit_exceeded");
      for (let times = 0; times < 5; times++) {
        const response = await ask();
        expect(response.status).toBe(204);
        expect(response.headers.get("Access-Control-Max-Age")).toBe("7200");
        expectCommonHeaders(response);
      }
      const foreign = { ...headers, Origin: "https://evil.example" };
      const rejected = await open.call("OPTIONS", "/inventory/1", { headers: foreign });
      expectError(rejected, "rate_limit_exceeded");
    });
  });
});
