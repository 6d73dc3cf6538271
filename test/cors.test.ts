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

  test("a preflight needs no key and allows the path's methods and the client's headers", async () => {
    const answer = await service.call("OPTIONS", "/inventory/1", { headers: preflight });
    expect(answer.status).toBe(204);
    expect(answer.headers.get("access-control-allow-origin")).toBe(shop);
    expect(answer.headers.get("access-control-allow-methods")).toBe("PATCH, OPTIONS");
    const allowed = answer.headers.get("access-control-allow-headers")!.toLowerCase().split(", ");
    const sent = ["authorization", "content-type", "if-match", "if-none-match", "idempotency-key"];
    for (const name of sent) expect(allowed).toContain(name);
  });

  test("answers and refusals expose every header a client acts on", async () => {
    for (const [given, status] of [
      [key, 200],
      [undefined, 401],
    ] as const) {
      const answer = await service.call("GET", "/inventory", {
        key: given,
        headers: { Origin: shop },
      });
      expect(answer.status).toBe(status);
      expect(answer.headers.get("access-control-allow-origin")).toBe(shop);
      const exposed = answer.headers.get("access-control-expose-headers")!.split(", ");
      for (const name of exposable) expect(exposed).toContain(name);
    }
  });

  test("a page of another origin is told nothing", async () => {
    for (const method of ["GET", "OPTIONS"]) {
      const answer = await service.call(method, "/inventory", {
        key,
        headers: { ...preflight, Origin: "https://elsewhere.example" },
      });
      expect(answer.headers.get("access-control-allow-origin")).toBeNull();
      expect(answer.headers.get("access-control-allow-methods")).toBeNull();
    }
  });

  test("a cache is told that answers differ by origin, and the list by coding too", async () => {
    const list = await service.call("GET", "/inventory", { key, headers: { Origin: shop } });
    expect(list.headers.get("vary")?.split(", ").sort()).toEqual(["Accept-Encoding", "Origin"]);
    expect(list.headers.get("content-type")).toBe("application/json");
    const update = await service.call("PATCH", "/inventory/1", { key, body: '{"quantity":1}' });
    expect(update.headers.get("vary")).toBe("Origin");
  });

  test("preflights take nothing from the address's count, and are answered when it is used up", async () => {
    const few = await startTestService("sqlite", {
      "cors-origins": shop,
      "address-per-minute": "3",
    });
    const ask = (headers: Record<string, string>) =>
      few.call("OPTIONS", "/inventory/1", { headers });
    const left = ({ headers }: { headers: Headers }) => headers.get("x-ratelimit-remaining");
    for (let sent = 0; sent < 20; sent++) {
      const answer = await ask(preflight);
      expect([answer.status, left(answer)]).toEqual([204, "3"]);
      expect(answer.headers.get("access-control-max-age")).toBe("7200");
    }
    // Everything else that comes without a key is counted, whatever it says of itself.
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
    const answer = await ask(preflight);
    expect([answer.status, left(answer)]).toEqual([204, "0"]);
    await few.stop();
  });

  test("a preflight never carries credentials' permission: keys are sent, cookies are not", async () => {
    const answer = await service.call("OPTIONS", "/inventory/1", { headers: preflight });
    expect(answer.headers.get("access-control-allow-credentials")).toBeNull();
  });
});

test("with any origin allowed, every page is answered with a star", async () => {
  const service = await startTestService("sqlite", { "cors-origins": "*" });
  const answer = await service.call("OPTIONS", "/inventory/1", { headers: preflight });
  expect(answer.headers.get("access-control-allow-origin")).toBe("*");
  expect(answer.headers.get("vary")).toBeNull();
  await service.stop();
});

test("without configured origins no answer speaks of other origins", async () => {
  const service = await startTestService();
  const answer = await service.call("OPTIONS", "/inventory/1", { headers: preflight });
  expect(answer.status).toBe(204);
  const names = [...answer.headers.keys()].filter((name) => name.startsWith("access-control-"));
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
  "Date",
];
