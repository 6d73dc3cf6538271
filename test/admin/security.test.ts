import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { cookieIn, issueOperator, signIn } from "../support/admin/operators.ts";
import { expectError } from "../support/responses.ts";
import { startTestService, type TestService } from "../support/service.ts";
import { connectRaw } from "../support/socket.ts";
import { openCertificateFolder } from "../support/tls.ts";

describe("requests of other pages", () => {
  let service: TestService;
  let operator: string;
  let cookie: string;
  let own: { readonly Origin: string; readonly Host: string };
  beforeAll(async () => {
    const flags = { "cors-origins": "*", "sign-in-per-minute": "1000" };
    service = await startTestService("sqlite", flags);
    operator = (await issueOperator(service)).text;
    cookie = await signIn(service, operator);
    const { origin, host } = new URL(service.baseUrl);
    own = { Origin: origin, Host: host };
  });
  afterAll(() => service.stop());

  const create = (headers: Record<string, string>) =>
    service.call("POST", "~/admin/keys", {
      headers: { Cookie: cookie, ...headers },
      body: '{"name":"Till","plan":"free"}',
    });
  const keysNow = async () => (await service.store.keys.listKeys()).length;

  /** What a browser, or an attacker's page in one, may send. */
  const foreign: readonly (readonly [name: string, headers: Record<string, string>])[] = [
    ["no headers about the origin", {}],
    ["another host", { Origin: "https://evil.example" }],
    ["another host, as an old browser", { Origin: "http://evil.example", Accept: "*/*" }],
    ["an opaque origin", { Origin: "null" }],
    ["an empty origin", { Origin: "" }],
    ["another port of the host", { Origin: "http://127.0.0.1:1" }],
    ["a host that begins like ours", { Origin: "http://127.0.0.1.evil.example" }],
    ["another scheme", { Origin: "file://127.0.0.1" }],
    ["a cross-site request", { "Sec-Fetch-Site": "cross-site" }],
    ["a same-site request", { "Sec-Fetch-Site": "same-site" }],
    ["a request without a page", { "Sec-Fetch-Site": "none" }],
    ["two values", { "Sec-Fetch-Site": "same-origin, cross-site" }],
  ];

  test.each(foreign)("that change something by cookie are refused: %s", async (_name, headers) => {
    const before = await keysNow();
    expectError(await create(headers), "cross_origin");
    // Our own origin does not make up for the site, nor the site for the origin.
    const site = headers["Sec-Fetch-Site"];
    if (site) expectError(await create({ ...own, ...headers }), "cross_origin");
    else if (headers.Origin) {
      const mixed = { ...headers, "Sec-Fetch-Site": "same-origin" };
      expectError(await create(mixed), "cross_origin");
    }
    expect(await keysNow()).toBe(before);
  });

  test("that sign in are refused, and get no cookie", async () => {
    for (const [name, headers] of foreign) {
      const response = await service.call("POST", "~/admin/session", { key: operator, headers });
      const isProgram = headers.Origin === undefined && headers["Sec-Fetch-Site"] === undefined;
      expect([name, response.status]).toEqual([name, isProgram ? 201 : 403]);
      expect(response.headers.has("set-cookie")).toBe(isProgram);
    }
  });

  test("that submit a form are refused, whatever the form is", async () => {
    const before = await keysNow();
    for (const type of [
      "application/x-www-form-urlencoded",
      "text/plain",
      "multipart/form-data; boundary=x",
    ]) {
      const headers = { Origin: "https://evil.example", "Content-Type": type };
      expectError(await create(headers), "cross_origin");
      const unsupported = await create({ ...own, "Content-Type": type });
      expectError(unsupported, "unsupported_media_type");
    }
    expect(await keysNow()).toBe(before);
  });

  test("of the service itself are accepted, as each browser marks them", async () => {
    const before = await keysNow();
    for (const headers of [
      own,
      { "Sec-Fetch-Site": "same-origin" },
      { ...own, "Sec-Fetch-Site": "same-origin" },
      { Host: "shop.example", Origin: "https://shop.example" },
      { Host: "SHOP.example:443", Origin: "https://shop.example" },
      { Host: "[::1]:8080", Origin: "http://[::1]:8080" },
    ]) {
      expect((await create(headers)).status).toBe(201);
    }
    expect(await keysNow()).toBe(before + 6);
  });

  test("cannot read anything: no response has CORS headers, even if all origins are allowed", async () => {
    const headers = { Cookie: cookie, Origin: "https://evil.example" };
    for (const [method, path] of [
      ["GET", "~/admin/keys"],
      ["OPTIONS", "~/admin/keys"],
      ["POST", "~/admin/keys"],
      ["GET", "~/admin/nothing"],
    ] as const) {
      const response = await service.call(method, path, {
        headers: { ...headers, "Access-Control-Request-Method": "GET" },
      });
      expect([...response.headers.keys()].filter((name) => name.includes("allow-"))).toEqual([]);
      expect(response.headers.get("cross-origin-resource-policy")).toBe("same-origin");
      expect(response.headers.get("cache-control")).toBe("no-store");
    }
  });

  test("with a key need no origin, as programs send none", async () => {
    const headers = { Authorization: `Bearer ${operator}` };
    const body = '{"name":"Till","plan":"free"}';
    const created = await service.call("POST", "~/admin/keys", { headers, body });
    expect(created.status).toBe(201);
  });

  test("of HTTP/1.0 without a Host cannot change anything by cookie", async () => {
    const raw = await connectRaw(service.baseUrl);
    raw.send(
      `DELETE /admin/session HTTP/1.0\r\nCookie: ${cookie}\r\nOrigin: ${own.Origin}\r\n\r\n`,
    );
    expect((await raw.answer()).status).toBe(403);
    raw.abort();
    const known = await service.call("GET", "~/admin/session", { headers: { Cookie: cookie } });
    expect(known.status).toBe(200);
  });
});

test("failed sign-ins are limited per address, and neither a valid key nor the API is affected", async () => {
  const flags = { "sign-in-per-minute": "3", "trusted-proxies": "127.0.0.1" };
  const service = await startTestService("sqlite", flags);
  try {
    const { text } = await issueOperator(service);
    const from = (address: string, key: string) =>
      service.call("POST", "~/admin/session", { key, headers: { "X-Forwarded-For": address } });
    const guess = `pso_live_${"x".repeat(49)}`;
    for (const status of [401, 401, 401, 429]) {
      expect((await from("192.0.2.1", guess)).status).toBe(status);
    }
    const refused = await from("192.0.2.1", guess);
    expectError(refused, "rate_limit_exceeded");
    expect(refused.headers.get("retry-after")).toBe("60");
    expect(refused.headers.get("cache-control")).toBe("no-store");
    expect((await from("192.0.2.2", guess)).status).toBe(401);
    expect((await from("192.0.2.1", text)).status).toBe(201);
    const headers = { "X-Forwarded-For": "192.0.2.1" };
    expect((await service.call("GET", "/inventory", { headers })).status).toBe(401);
    expect((await service.call("GET", "~/console", { headers })).status).not.toBe(429);
    service.clock.advance(60_000);
    expect((await from("192.0.2.1", guess)).status).toBe(401);
  } finally {
    await service.stop();
  }
});

describe("the cookie of a session", () => {
  const secure =
    /^__Host-petstore_staging=[0-9A-Za-z]{43}; Path=\/; Max-Age=43200; HttpOnly; SameSite=Strict; Secure$/;

  async function onStaging(
    flags: Record<string, string>,
    work: (service: TestService, key: string) => Promise<void>,
  ): Promise<void> {
    const service = await startTestService("sqlite", { env: "staging", ...flags });
    try {
      await work(service, (await issueOperator(service, "Ada", "staging")).text);
    } finally {
      await service.stop();
    }
  }

  const setBy = async (service: TestService, key: string, headers: Record<string, string> = {}) =>
    (await service.call("POST", "~/admin/session", { key, headers })).headers;

  test("is secure and bound to the host under TLS, and no other cookie is accepted then", async () => {
    const files = openCertificateFolder("first");
    await onStaging(files.flags, async (service, key) => {
      const headers = await setBy(service, key);
      expect(headers.get("set-cookie")).toMatch(secure);
      const cookie = cookieIn(headers);
      const statusOf = async (sent: string) =>
        (await service.call("GET", "~/admin/session", { headers: { Cookie: sent } })).status;
      expect(await statusOf(cookie)).toBe(200);
      // Another host of the domain, or a page without TLS, can set a cookie without the prefix.
      expect(await statusOf(cookie.replace("__Host-", ""))).toBe(401);
      const plain = {
        Cookie: cookie,
        Origin: service.baseUrl.replace(/^https(.*)\/v1$/, "http$1"),
      };
      const path = "~/admin/session";
      expectError(await service.call("DELETE", path, { headers: plain }), "cross_origin");
      const own = { ...plain, Origin: new URL(service.baseUrl).origin };
      const ended = await service.call("DELETE", path, { headers: own });
      expect(ended.headers.get("set-cookie")).toBe(
        "__Host-petstore_staging=; Path=/; Max-Age=0; HttpOnly; SameSite=Strict; Secure",
      );
    });
    files.remove();
  });

  test("is secure behind a trusted proxy with TLS, whose host is the one that counts", async () => {
    const https = { "X-Forwarded-Proto": "https" };
    await onStaging({ "trusted-proxies": "127.0.0.1" }, async (service, key) => {
      const headers = await setBy(service, key, https);
      expect(headers.get("set-cookie")).toMatch(secure);
      expect((await setBy(service, key)).get("set-cookie")).toMatch(/^petstore_staging=.*Strict$/);
      const chain = { "X-Forwarded-Proto": "https, http" };
      expect((await setBy(service, key, chain)).get("set-cookie")).toStartWith("petstore_staging=");
      const end = (origin: string) =>
        service.call("DELETE", "~/admin/session", {
          headers: {
            ...https,
            Cookie: cookieIn(headers),
            Origin: origin,
            Host: "10.0.0.7:8080",
            "X-Forwarded-Host": "shop.example",
          },
        });
      expectError(await end("https://10.0.0.7:8080"), "cross_origin");
      expectError(await end("http://shop.example"), "cross_origin");
      expect((await end("https://shop.example")).status).toBe(204);
    });
  });

  test("does not become secure because a client says so, and its host does not count either", async () => {
    await onStaging({ "trusted-proxies": "192.0.2.1" }, async (service, key) => {
      const headers = await setBy(service, key, { "X-Forwarded-Proto": "https" });
      expect(headers.get("set-cookie")).toMatch(/^petstore_staging=[^;]+; .*SameSite=Strict$/);
      const forged = {
        Cookie: cookieIn(headers),
        Origin: "https://evil.example",
        "X-Forwarded-Host": "evil.example",
      };
      const ended = await service.call("DELETE", "~/admin/session", { headers: forged });
      expectError(ended, "cross_origin");
    });
  });
});
