import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { brotliDecompressSync, gunzipSync, zstdDecompressSync } from "node:zlib";
import { issueOperator } from "../support/admin/operators.ts";
import { startTestService, type TestService } from "../support/service.ts";

let service: TestService;
let operator: string;
beforeAll(async () => {
  service = await startTestService("sqlite");
  operator = (await issueOperator(service)).text;
  for (let made = 0; made < 30; made++) await service.issueKey({ name: `Key ${made}` });
  await service.addPets({ petId: 1n });
});
afterAll(() => service.stop());

/** Sends a request and leaves the body as it was sent. */
async function send(path: string, accept: string, init: RequestInit = {}) {
  const headers = { Authorization: `Bearer ${operator}`, "Accept-Encoding": accept };
  const url = new URL(`/admin${path}`, service.baseUrl);
  const response = await fetch(url, { ...init, headers, decompress: false } as RequestInit);
  const bytes = new Uint8Array(await response.arrayBuffer());
  return { bytes, status: response.status, headers: response.headers };
}

const decompress: Record<string, (bytes: Uint8Array) => Uint8Array> = {
  gzip: gunzipSync,
  br: brotliDecompressSync,
  zstd: zstdDecompressSync,
};

describe("a long JSON body of the operator API", () => {
  test.each(["gzip", "br", "zstd"])("is sent as %s to a client that accepts it", async (name) => {
    const plain = await send("/audit", "identity");
    const { bytes, headers } = await send("/audit", name);
    expect(headers.get("content-encoding")).toBe(name);
    expect(headers.get("content-type")).toBe("application/json");
    expect(headers.get("cache-control")).toBe("no-store");
    expect(bytes.length).toBeLessThan(plain.bytes.length / 3);
    expect(Number(headers.get("content-length"))).toBe(bytes.length);
    expect(Buffer.from(decompress[name]!(bytes)).toString()).toBe(
      Buffer.from(plain.bytes).toString(),
    );
  });

  test.each([
    ["", null],
    ["identity", null],
    ["gzip;q=0, br;q=0, zstd;q=0", null],
    ["*;q=0", null],
    ["deflate", null],
    ["gzip;q=0.4, identity", null],
    ["gzip;q=0.5, br;q=0.8, zstd;q=0.1", "br"],
    ["GZIP", "gzip"],
    ["gzip;q=2, br", "br"],
    ["*", "zstd"],
  ])(
    "with Accept-Encoding '%s' has the encoding %p, and always varies",
    async (accept, encoding) => {
      const { headers, bytes } = await send("/keys", accept);
      expect(headers.get("content-encoding")).toBe(encoding);
      expect(headers.get("vary")).toBe("Accept-Encoding");
      if (encoding === null) expect(JSON.parse(Buffer.from(bytes).toString())).toHaveLength(31);
    },
  );

  test("varies by Accept too, where Accept selects between a page and the feed", async () => {
    const body = '{"quantity":5}';
    const { text: key } = await service.issueKey({ plan: "business" });
    for (let sent = 0; sent < 30; sent++) {
      await service.call("PATCH", "/inventory/1", { key, body });
    }
    const { headers } = await send("/changes?limit=1000", "gzip");
    expect(headers.get("content-encoding")).toBe("gzip");
    expect(headers.get("vary")).toBe("Accept, Accept-Encoding");
  });
});

test("a short body, an error and the response to a change are not compressed", async () => {
  expect((await send("/session", "gzip")).headers.get("content-encoding")).toBeNull();
  expect((await send("/keys/key_none", "gzip")).headers.get("content-encoding")).toBeNull();
  // Longer than what is compressed elsewhere, with a secret beside what the request chose.
  const pets = Array.from({ length: 1_000 }, (_, at) => String(1_000_000 + at));
  const body = JSON.stringify({ url: "https://hooks.example/", pets });
  const { bytes, headers, status } = await send("/webhooks", "gzip", { method: "POST", body });
  const text = Buffer.from(bytes).toString();
  expect([status, headers.get("content-encoding")]).toEqual([201, null]);
  expect(text.length).toBeGreaterThan(4_096);
  expect(text).toContain("whsec_");
});
