import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { startTestService, type TestService } from "./support/service.ts";

const shop = "https://shop.example";
const preflight = {
  Origin: shop,
  "Access-Control-Request-Method": "PATCH",
  "Access-Control-Request-Headers": "authorization, content-type",
};

describe("with the origin of a shop configured", () => {
  let service: TestService;
  let key: string;
  beforeAll(async () => {
    service = await startTestService("sqlite", { "cors-origins": `${shop}, http://other.example` });
    key = (await service.issueKey()).text;
    await service.addPets({ petId: 1n });
  });
  afterAll(() => service.stop());

  test("a preflight needs no key and allows the methods of the path and the headers of the client", async () => {
    const response = await service.call("OPTIONS", "/inventory/1", { headers: preflight });
    expect(response.status).toBe(204);
    expect(response.headers.get("access-control-allow-origin")).toBe(shop);
    expect(response.headers.get("access-control-allow-methods")).toBe("GET, HEAD, PATCH, OPTIONS");
    const allowed = response.headers.get("access-control-allow-headers")!.toLowerCase().split(", ");
    const sent = `authorization content-type if-match if-none-match idempotency-key x-change-reason last-event-id`;
    for (const name of sent.split(" ")) expect(allowed).toContain(name);
  });

  test("responses and errors expose every header that clients use", async () => {
    for (const [given, status] of [
      [key, 200],
      [undefined, 401],
    ] as const) {
      const response = await service.call("GET", "/inventory", {
        key: given,
        headers: { Origin: shop },
      });
      expect(response.status).toBe(status);
      expect(response.headers.get("access-control-allow-origin")).toBe(shop);
      const exposed = response.headers.get("access-control-expose-headers")!.split(", ");
      for (const name of exposable) expect(exposed).toContain(name);
    }
  });

  test("a page of another origin gets no CORS headers", async () => {
    for (const method of ["GET", "OPTIONS"]) {
      const response = await service.call(method, "/inventory", {
        key,
        headers: { ...preflight, Origin: "https://elsewhere.example" },
      });
      expect(response.headers.get("access-control-allow-origin")).toBeNull();
      expect(response.headers.get("access-control-allow-methods")).toBeNull();
    }
  });

  test("responses vary by origin, and the list by encoding too", async () => {
    const list = await service.call("GET", "/inventory", { key, headers: { Origin: shop } });
    expect(list.headers.get("vary")?.split(", ").sort()).toEqual(["Accept-Encoding", "Origin"]);
    expect(list.headers.get("content-type")).toBe("application/json");
    const update = await service.call("PATCH", "/inventory/1", { key, body: '{"quantity":1}' });
    expect(update.headers.get("vary")).toBe("Origin");
  });

  test("preflights are not counted against the address, and succeed when its limit is exceeded", async () => {
    const few = await startTestService("sqlite", {
      "cors-origins": shop,
      "address-per-minute": "3",
    });
    const ask = (headers: Record<string, string>) =>
      few.call("OPTIONS", "/inventory/1", { headers });
    const left = ({ headers }: { headers: Headers }) => headers.get("x-ratelimit-remaining");
    for (let sent = 0; sent < 20; sent++) {
      const response = await ask(preflight);
      expect([response.status, left(response)]).toEqual([204, "3"]);
      expect(response.headers.get("access-control-max-age")).toBe("7200");
    }
    // Every other request without a key is counted.
    const counted = [
      await ask({}),
      await ask({ ...preflight, Origin: "https://elsewhere.example" }),
      await ask({ Origin: shop }),
    ];
    expect(counted.map(left)).toEqual(["2", "1", "0"]);
    expect((await ask({})).status).toBe(429);
    expect((await few.call("OPTIONS", "/nothing", { headers: preflight })).status).toBe(429);
    const unknown = { ...preflight, "Access-Control-Request-Method": "DELETE" };
    expect((await ask(unknown)).status).toBe(429);
    const response = await ask(preflight);
    expect([response.status, left(response)]).toEqual([204, "0"]);
    await few.stop();
  });

  test("a preflight never allows credentials, because keys are not cookies", async () => {
    const response = await service.call("OPTIONS", "/inventory/1", { headers: preflight });
    expect(response.headers.get("access-control-allow-credentials")).toBeNull();
  });
});

test("with all origins allowed, the allowed origin is a star", async () => {
  const service = await startTestService("sqlite", { "cors-origins": "*" });
  const response = await service.call("OPTIONS", "/inventory/1", { headers: preflight });
  expect(response.headers.get("access-control-allow-origin")).toBe("*");
  expect(response.headers.get("vary")).toBeNull();
  await service.stop();
});

test("without configured origins no response has CORS headers", async () => {
  const service = await startTestService();
  const response = await service.call("OPTIONS", "/inventory/1", { headers: preflight });
  expect(response.status).toBe(204);
  const names = [...response.headers.keys()].filter((name) => name.startsWith("access-control-"));
  expect(names).toEqual([]);
  await service.stop();
});

const exposable = [
  "X-RateLimit-Limit",
  "X-RateLimit-Remaining",
  "X-RateLimit-Reset",
  "RateLimit",
  "RateLimit-Policy",
  "Retry-After",
  "ETag",
  "X-Request-Id",
  "Link",
  "Deprecation",
  "Sunset",
  "X-Stability",
  "Idempotent-Replayed",
  "Content-Location",
  "Date",
];
