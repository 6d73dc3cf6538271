import { afterEach, describe, expect, test } from "bun:test";
import fc from "fast-check";
import { createAddressReader } from "../../src/http/messages/client-address.ts";
import { bucketOf, createAddressLimiter } from "../../src/limits/addresses.ts";
import { readNetworks } from "../../src/settings/readers.ts";
import { createTestClock } from "../support/clock.ts";
import { startTestService, type TestService } from "../support/service.ts";

let service: TestService | undefined;
afterEach(async () => {
  await service?.stop();
  service = undefined;
});

describe("requests without a valid key", () => {
  test("are counted by address, with the same headers, and refused beyond the limit", async () => {
    service = await startTestService("sqlite", { "address-per-minute": "5" });
    const bad = `psk_live_${"x".repeat(49)}`;
    const responses = [
      await service.call("GET", "/inventory"),
      await service.call("GET", "/inventory", { key: bad }),
      await service.call("GET", "/nothing"),
      await service.call("OPTIONS", "/inventory"),
      await service.call("PATCH", "/inventory/1", { body: "{}" }),
    ];
    expect(responses.map((response) => response.status)).toEqual([401, 401, 401, 204, 401]);
    const left = responses.map((response) => response.headers.get("x-ratelimit-remaining"));
    expect(left).toEqual(["4", "3", "2", "1", "0"]);
    const refused = await service.call("GET", "/inventory");
    expect(refused.status).toBe(429);
    expect(refused.json).toMatchObject({ code: "rate_limit_exceeded" });
    expect(refused.headers.get("retry-after")).toBe("60");
    service.clock.advance(60_000);
    expect((await service.call("GET", "/inventory")).status).toBe(401);
  });

  test("do not limit a valid key from the same address", async () => {
    service = await startTestService("sqlite", { "address-per-minute": "1" });
    const { text: key } = await service.issueKey();
    await service.call("GET", "/inventory");
    expect((await service.call("GET", "/inventory")).status).toBe(429);
    expect((await service.call("GET", "/inventory", { key })).status).toBe(200);
  });

  test("are counted by X-Forwarded-For only when the proxy is trusted", async () => {
    const limit = { "address-per-minute": "1" };
    const from = (address: string) =>
      service!.call("GET", "/inventory", { headers: { "X-Forwarded-For": address } });
    service = await startTestService("sqlite", limit);
    expect((await from("192.0.2.1")).status).toBe(401);
    expect((await from("192.0.2.2")).status).toBe(429);
    await service.stop();
    service = await startTestService("sqlite", { ...limit, "trusted-proxies": "127.0.0.1" });
    expect((await from("192.0.2.1")).status).toBe(401);
    expect((await from("192.0.2.2")).status).toBe(401);
    expect((await from("203.0.113.9, 192.0.2.1")).status).toBe(429);
  });
});

describe("the client's address", () => {
  const read = createAddressReader(readNetworks("10.0.0.0/8,fd00::/8"));
  const from = (socket: string, forwarded: string) =>
    read(socket, new Headers({ "X-Forwarded-For": forwarded }));

  test("is the last one that is not a trusted proxy", () => {
    expect(from("10.0.0.1", "192.0.2.1, 198.51.100.7, 10.2.3.4")).toBe("198.51.100.7");
    expect(from("fd00::1", "192.0.2.1")).toBe("192.0.2.1");
    expect(from("::ffff:10.0.0.1", "192.0.2.1")).toBe("192.0.2.1");
    expect(from("192.0.2.9", "192.0.2.1")).toBe("192.0.2.9");
  });

  test("may have a port, and brackets if it is IPv6", () => {
    expect(from("10.0.0.1", "192.0.2.1:5678")).toBe("192.0.2.1");
    expect(from("10.0.0.1", "[2001:db8::1]:5678")).toBe("2001:db8::1");
    expect(from("10.0.0.1", "[2001:db8::1]")).toBe("2001:db8::1");
    expect(from("10.0.0.1", "2001:db8::1")).toBe("2001:db8::1");
    expect(from("10.0.0.1", "198.51.100.7:1, 10.2.3.4:80,[fd00::2]:443")).toBe("198.51.100.7");
  });

  test("is never text that only resembles an address", () => {
    const wrong = ["192.0.2.1:", "192.0.2.1:x", "[192.0.2.1]:80", "[2001:db8::1", "2001:db8::1]"];
    for (const hop of [...wrong, "192.0.2.1:123456", "[2001:db8::1]80", ":80", "[]:80"]) {
      expect([hop, from("10.0.0.1", hop)]).toEqual([hop, "10.0.0.1"]);
    }
  });

  test("is not read from Forwarded, which a proxy may pass on as the client wrote it", () => {
    const headers = new Headers({ Forwarded: "for=192.0.2.1", "X-Forwarded-For": "192.0.2.2:1" });
    expect(read("10.0.0.1", headers)).toBe("192.0.2.2");
    headers.delete("X-Forwarded-For");
    expect(read("10.0.0.1", headers)).toBe("10.0.0.1");
  });

  test("is the nearest known one when the header is empty or invalid", () => {
    expect(from("10.0.0.1", "")).toBe("10.0.0.1");
    expect(from("10.0.0.1", "192.0.2.1, what")).toBe("10.0.0.1");
    expect(from("10.0.0.1", "10.0.0.2, 10.0.0.3")).toBe("10.0.0.2");
    expect(from("unknown", "192.0.2.1")).toBe("unknown");
  });
});

describe("an address counts as", () => {
  test("itself when it is IPv4, however it is written", () => {
    expect(bucketOf("192.0.2.1")).toBe("192.0.2.1");
    expect(bucketOf("::ffff:192.0.2.1")).toBe("192.0.2.1");
    expect(bucketOf("::FFFF:c000:0201")).toBe("192.0.2.1");
  });

  test("its /64 when it is IPv6, however it is written", () => {
    for (const address of [
      "2001:db8:1:2::1",
      "2001:db8:1:2:3:4:5:6",
      "2001:0DB8:0001:0002::",
      "2001:db8:1:2:ffff::1%eth0",
    ]) {
      expect(bucketOf(address)).toBe("2001:db8:1:2");
    }
    expect(bucketOf("2001:db8::1")).toBe("2001:db8:0:0");
    expect(bucketOf("::1")).toBe("0:0:0:0");
    expect(bucketOf("::")).toBe("0:0:0:0");
  });

  test("one bucket for any two addresses of one /64, and another for any other", () => {
    const group = fc.integer({ min: 1, max: 0xffff }).map((value) => value.toString(16));
    const half = fc.array(group, { minLength: 4, maxLength: 4 }).map((groups) => groups.join(":"));
    fc.assert(
      fc.property(half, half, half, half, (network, one, other, foreign) => {
        expect(bucketOf(`${network}:${one}`)).toBe(bucketOf(`${network}:${other}`));
        expect(bucketOf(`${network}::1`)).toBe(network);
        if (foreign !== network) {
          expect(bucketOf(`${foreign}:${one}`)).not.toBe(bucketOf(`${network}:${one}`));
        }
      }),
    );
  });
});

describe("when more addresses arrive than are counted separately", () => {
  test("the others share one count, and those already counted keep theirs", () => {
    const clock = createTestClock();
    const limiter = createAddressLimiter(clock, 2, 3);
    const take = (address: string) => limiter.take(address).outcome;
    for (const address of ["192.0.2.1", "192.0.2.2", "192.0.2.3"]) {
      expect(take(address)).toBe("admitted");
    }
    expect([take("198.51.100.1"), take("198.51.100.2"), take("198.51.100.3")]).toEqual([
      "admitted",
      "admitted",
      "limited",
    ]);
    expect(take("192.0.2.1")).toBe("admitted");
    clock.advance(60_000);
    expect(take("198.51.100.3")).toBe("admitted");
  });

  test("a clock that goes back does not start a new minute", () => {
    const clock = createTestClock();
    const limiter = createAddressLimiter(clock, 1, 10);
    limiter.take("192.0.2.1");
    clock.advance(-120_000);
    expect(limiter.take("192.0.2.1").outcome).toBe("limited");
    clock.advance(120_000 + 60_000);
    expect(limiter.take("192.0.2.1").outcome).toBe("admitted");
  });
});
