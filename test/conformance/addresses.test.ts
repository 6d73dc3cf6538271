import { expect, test } from "bun:test";
import { onEveryEngine, statusesOf, withService } from "../support/conformance.ts";
import { expectError, limitsOf } from "../support/responses.ts";

onEveryEngine(
  "requests without a valid key",
  (service, engine) => {
    const from = (address: string, key?: string) =>
      service().call("GET", "/inventory", { key, headers: { "X-Forwarded-For": address } });

    test("[open.addresses] requests without a valid key are counted by client address; valid keys are not affected", async () => {
      const { text: key } = await service().issueKey();
      const first = await from("192.0.2.1");
      expectError(first, "unauthorized");
      expect(limitsOf(first)).toMatchObject({ limit: 5, remaining: 4 });
      expect(await statusesOf(5, () => from("192.0.2.1", "x"))).toEqual([401, 401, 401, 401, 429]);
      const over = await from("192.0.2.1");
      expectError(over, "rate_limit_exceeded");
      expect(Number(over.headers.get("Retry-After"))).toBeGreaterThanOrEqual(1);
      expect((await from("192.0.2.1", key)).status).toBe(200);
      expectError(await from("192.0.2.2"), "unauthorized");
      service().clock.advance(60_000);
      expectError(await from("192.0.2.1"), "unauthorized");
    });

    test("[open.addresses-ipv6] IPv6 addresses are counted by their /64", async () => {
      service().clock.advance(60_000);
      const near = ["2001:db8:1:2::1", "2001:db8:1:2::2", "2001:DB8:1:2:ffff::", "2001:db8:1:2::3"];
      for (const address of [...near, "2001:0db8:0001:0002::4"]) {
        expect((await from(address)).status).toBe(401);
      }
      expect((await from("2001:db8:1:2:9::9")).status).toBe(429);
      expect((await from("2001:db8:1:3::1")).status).toBe(401);
    });

    test("[open.addresses-proxy] X-Forwarded-For is trusted only from a trusted proxy", async () => {
      await withService(engine, { "address-per-minute": "2" }, async (direct) => {
        let client = 0;
        const ask = () =>
          direct.call("GET", "/inventory", {
            headers: { "X-Forwarded-For": `192.0.2.${client++}` },
          });
        expect(await statusesOf(3, ask)).toEqual([401, 401, 429]);
      });
    });

    test("[open.addresses-default] the limit is 300 per minute by default", async () => {
      await withService(engine, {}, async (plain) => {
        const response = await plain.call("GET", "/inventory");
        expect(limitsOf(response)).toMatchObject({ limit: 300, remaining: 299 });
        expect(response.headers.get("RateLimit-Policy")).toBe('"minute";q=300;w=60');
      });
    });
  },
  { "address-per-minute": "5", "trusted-proxies": "127.0.0.0/8" },
);
