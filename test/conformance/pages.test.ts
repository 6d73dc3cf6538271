import { expect, test } from "bun:test";
import { brotliDecompressSync, gunzipSync, zstdDecompressSync } from "node:zlib";
import { onEveryEngine, statusesOf, withService } from "../support/conformance.ts";
import { expectError } from "../support/responses.ts";

const decode = {
  gzip: gunzipSync,
  br: brotliDecompressSync,
  zstd: zstdDecompressSync,
} as const;

onEveryEngine("pages", (service, engine) => {
  const paths = ["/docs", "/openapi.json", "/docs/style.css", "/docs/browser/trial.ts"];
  /** Does not decompress, so that the response is what a cache sees. */
  const ask = async (path: string, headers: Record<string, string> = {}, method = "GET") => {
    const url = new URL(path, service().baseUrl);
    const response = await fetch(url, { method, headers, decompress: false });
    return { status: response.status, headers: response.headers, bytes: await response.bytes() };
  };

  test("[open.pages] pages have an ETag, return 304, may be cached, and are compressed", async () => {
    for (const path of paths) {
      const plain = await ask(path, { "Accept-Encoding": "identity" });
      expect(plain.status).toBe(200);
      expect(plain.headers.has("Content-Encoding")).toBe(false);
      const tags = new Set([plain.headers.get("ETag")!]);
      for (const coding of ["gzip", "br", "zstd"] as const) {
        const response = await ask(path, { "Accept-Encoding": coding });
        expect(response.headers.get("Content-Encoding")).toBe(coding);
        expect(response.bytes.length).toBeLessThan(plain.bytes.length / 2);
        expect(Buffer.from(decode[coding](response.bytes)).equals(Buffer.from(plain.bytes))).toBe(
          true,
        );
        tags.add(response.headers.get("ETag")!);
        const head = await ask(path, { "Accept-Encoding": coding }, "HEAD");
        expect(head.headers.get("Content-Length")).toBe(String(response.bytes.length));
        for (const known of tags) {
          const headers = { "Accept-Encoding": coding, "If-None-Match": known };
          const same = await ask(path, headers);
          expect([same.status, same.bytes.length]).toEqual([304, 0]);
          expect(same.headers.get("ETag")).toBe(response.headers.get("ETag"));
        }
        for (const { headers } of [response, head]) {
          expect(headers.get("Cache-Control")).toBe("no-cache");
          expect(headers.get("Vary")).toBe("Accept-Encoding");
        }
      }
      expect(tags.size).toBe(4);
      const changed = await ask(path, { "If-None-Match": '"other"' });
      expect(changed.status).toBe(200);
    }
    // Both contain the origin of the request, so each origin has its own ETag.
    for (const path of ["/docs", "/openapi.json"]) {
      const here = (await ask(path)).headers.get("ETag")!;
      const elsewhere = await ask(path, { Host: "shop.example", "If-None-Match": here });
      expect(elsewhere.status).toBe(200);
    }
  });

  test("[open.outside-ids] an error outside the base paths has a request id of its own", async () => {
    const ids = new Set<string>();
    const failing = [
      ask("/nothing"),
      ask("/inventory"),
      ask("/v2/inventory"),
      ask("/docs", {}, "POST"),
    ];
    for (const { status, headers } of await Promise.all(failing)) {
      expect([404, 405]).toContain(status);
      expect(headers.get("X-Request-Id")).toMatch(/^req_[0-9a-f]{12}_[0-9]+$/);
      ids.add(headers.get("X-Request-Id")!);
    }
    expect(ids.size).toBe(failing.length);
  });

  test("[open.pages-limit] pages are counted by address, separately from requests without a key", async () => {
    await withService(engine, { "address-per-minute": "7" }, async (few) => {
      const statuses = await statusesOf(7, () => few.call("GET", "~/docs"));
      expect(statuses).toEqual([200, 200, 200, 200, 200, 200, 200]);
      for (const path of ["~/docs", "~/openapi.json", "~/docs/style.css"]) {
        const response = await few.call("GET", path);
        expect(response.status).toBe(429);
        expect(response.json).toMatchObject({ code: "rate_limit_exceeded", status: 429 });
        expect(Number(response.headers.get("Retry-After"))).toBeGreaterThan(0);
        expect(response.headers.get("Cache-Control")).toBe("no-store");
      }
      expectError(await few.call("GET", "/inventory"), "unauthorized");
      expect((await few.call("GET", "~/healthz")).status).toBe(200);
      expect((await few.call("GET", "~/readyz")).status).toBe(200);
      few.clock.advance(60_000);
      expect((await few.call("GET", "~/docs")).status).toBe(200);
    });
  });
});
