import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { connect } from "node:net";
import { compressed as compress, preferredEncoding } from "../../src/http/messages/encodings.ts";
import { startTestService, type TestService } from "../support/service.ts";

describe("the content coding of a response", () => {
  test.each([
    [null, undefined],
    ["", undefined],
    ["identity", undefined],
    ["gzip", "gzip"],
    ["gzip, deflate, br, zstd", "zstd"],
    ["gzip, br", "br"],
    ["gzip;q=1, br;q=0.5", "gzip"],
    ["GZIP", "gzip"],
    ["*", "zstd"],
    ["*;q=0.5, zstd;q=0", "br"],
    ["gzip;q=0", undefined],
    ["gzip;q=0.5, identity", undefined],
    ["gzip;q=nonsense", undefined],
  ])("for Accept-Encoding %p is %p", (accept, coding) => {
    expect(preferredEncoding(accept)).toBe(coding as never);
  });
});

describe("a body that is compressed while it is sent", () => {
  test("fails if its source fails, so that a part is never taken for the whole", async () => {
    async function* failing() {
      yield Buffer.from("a".repeat(100_000));
      throw new Error("lost");
    }
    const reading = Array.fromAsync(compress(failing(), "gzip")).then(
      () => "complete",
      (error: Error) => error.message,
    );
    expect(await reading).toBe("lost");
  });

  test("ends its source when nobody reads on", async () => {
    const { promise: ended, resolve } = Promise.withResolvers<string>();
    async function* endless() {
      try {
        for (;;) yield crypto.getRandomValues(new Uint8Array(50_000));
      } finally {
        resolve("ended");
      }
    }
    for await (const piece of compress(endless(), "gzip")) {
      expect(piece.length).toBeGreaterThan(0);
      break;
    }
    expect(await ended).toBe("ended");
  });
});

describe("a compressed list", () => {
  let service: TestService;
  let key: string;
  beforeAll(async () => {
    service = await startTestService();
    await service.addPets(...Array.from({ length: 500 }, (_, at) => ({ petId: BigInt(at) })));
    key = (await service.issueKey()).text;
  });
  afterAll(() => service.stop());

  const list = (headers: Record<string, string>) =>
    service.call("GET", "/inventory", { key, headers });

  /** The list is compressed in the background, so requests are repeated until it is there. */
  async function compressed(coding: string) {
    for (let attempt = 0; attempt < 500; attempt++) {
      const answer = await list({ "Accept-Encoding": coding });
      if (answer.headers.get("content-encoding") === coding) return answer;
    }
    throw new Error(`never got ${coding}`);
  }

  test.each(["zstd", "br", "gzip"])(
    "in %s has the same content and a different tag",
    async (coding) => {
      const plain = await list({ "Accept-Encoding": "identity" });
      const answer = await compressed(coding);
      expect(answer.text).toBe(plain.text);
      expect(answer.headers.get("vary")).toBe("Accept-Encoding");
      expect(answer.headers.get("etag")).not.toBe(plain.headers.get("etag"));
      const known = { "If-None-Match": answer.headers.get("etag")!, "Accept-Encoding": coding };
      const again = await list(known);
      expect(again.status).toBe(304);
      expect(again.headers.get("etag")).toBe(answer.headers.get("etag"));
      expect(again.text).toBe("");
    },
  );

  test("is never out of date", async () => {
    await compressed("gzip");
    await service.call("PATCH", "/inventory/3", { key, body: '{"quantity":77}' });
    const answer = await list({ "Accept-Encoding": "gzip" });
    expect(answer.text).toContain('{"petId":3,"quantity":77,"status":"available"}');
  });
});

describe("a long list", () => {
  let service: TestService;
  let key: string;
  beforeAll(async () => {
    service = await startTestService();
    await service.addPets(...Array.from({ length: 60_000 }, (_, at) => ({ petId: BigInt(at) })));
    key = (await service.issueKey()).text;
  });
  afterAll(() => service.stop());

  test("arrives completely, before and after a change", async () => {
    const first = await service.call("GET", "/inventory", { key });
    expect((first.json as unknown[]).length).toBe(60_000);
    await service.call("PATCH", "/inventory/59999", { key, body: '{"quantity":1}' });
    const second = await service.call("GET", "/inventory", { key });
    expect(second.text.endsWith('{"petId":59999,"quantity":1,"status":"available"}]')).toBe(true);
    expect(second.text.length).toBe(first.text.length);
  });

  test("has its length in the response to HEAD, and no body", async () => {
    // Uncompressed both times, because compression may finish between the two requests.
    const plain = { key, headers: { "Accept-Encoding": "identity" } };
    const get = await service.call("GET", "/inventory", plain);
    const head = await service.call("HEAD", "/inventory", plain);
    expect(head.headers.get("content-length")).toBe(String(get.text.length));
    expect(head.text).toBe("");
  });

  test("survives clients that disconnect in the middle", async () => {
    const { hostname, port } = new URL(service.baseUrl);
    for (let round = 0; round < 20; round++) {
      await new Promise<void>((resolve) => {
        const socket = connect(Number(port), hostname, () =>
          socket.write(
            `GET /v1/inventory HTTP/1.1\r\nHost: test\r\nAuthorization: Bearer ${key}\r\n\r\n`,
          ),
        );
        socket.once("data", () => socket.destroy());
        socket.once("close", () => resolve());
      });
    }
    const answer = await service.call("GET", "/inventory", { key });
    expect((answer.json as unknown[]).length).toBe(60_000);
    expect(service.logged.filter((line) => line.includes("bug"))).toEqual([]);
  });
});
