import { expect, test } from "bun:test";
import { anEntry } from "../support/audit.ts";
import { onEveryEngine, statusesOf } from "../support/conformance.ts";
import { expectError, limitsOf } from "../support/responses.ts";
import { until } from "../support/until.ts";

onEveryEngine("bans", (service) => {
  const ask = (key: string) => service().call("GET", "/inventory", { key });
  const issue = (perMinute: number, perDay: number) =>
    service().issueKey({ plan: "enterprise", limits: { perMinute, perDay } });
  const nextMinute = () => {
    const now = service().clock.now();
    service().clock.set(now - (now % 60_000) + 60_000);
  };
  const codeOf = async (key: string) => ((await ask(key)).json as { code?: string }).code;
  /** Exhausts a limit of 2 per minute, waits for the grace period, and sends requests until the ban. */
  async function provoke(key: string): Promise<void> {
    nextMinute();
    await statusesOf(3, () => ask(key));
    service().clock.advance(1_001);
    for (let strike = 1; strike < 20; strike++) {
      expect(await codeOf(key)).toBe("rate_limit_exceeded");
    }
    expect(await codeOf(key)).toBe("key_banned");
  }

  test("[open.ban] twenty strikes in a minute ban a key for five minutes", async () => {
    const { clock } = service();
    const { text: key } = await issue(2, 1_000);
    await provoke(key);
    const end = clock.now() + 300_000;
    const banned = await ask(key);
    expectError(banned, "key_banned");
    expect(limitsOf(banned)).toMatchObject({ remaining: 0, reset: Math.ceil(end / 1_000) });
    expect(banned.headers.get("Retry-After")).toBe("300");
    expect(banned.headers.get("Cache-Control")).toBe("no-store");
    // Requests during the ban do not extend it.
    clock.set(end - 1_000);
    await statusesOf(50, () => ask(key));
    expect((await ask(key)).headers.get("Retry-After")).toBe("1");
    clock.set(end);
    expect((await ask(key)).status).toBe(200);
  });

  test("[open.ban-ladder] each further ban within a day is twice as long, up to an hour", async () => {
    const { clock } = service();
    const { text: key } = await issue(2, 1_000);
    for (const minutes of [5, 10, 20, 40, 60, 60]) {
      await provoke(key);
      expect((await ask(key)).headers.get("Retry-After")).toBe(String(minutes * 60));
      clock.advance(minutes * 60_000);
    }
    clock.advance(86_400_000);
    await provoke(key);
    expect((await ask(key)).headers.get("Retry-After")).toBe("300");
  });

  test("[open.ban-strikes] on large plans a ban takes as many strikes as a tenth of the per-minute limit", async () => {
    const { text: key } = await issue(300, 100_000);
    nextMinute();
    await Promise.all(Array.from({ length: 301 }, () => ask(key)));
    service().clock.advance(1_001);
    const codes: (string | undefined)[] = [];
    for (let sent = 0; sent < 30; sent++) codes.push(await codeOf(key));
    expect(codes).toEqual([...Array(29).fill("rate_limit_exceeded"), "key_banned"]);
  });

  test("[open.ban-grace] 429s within a second of the first are not strikes", async () => {
    const { text: key } = await issue(2, 1_000);
    nextMinute();
    await statusesOf(3, () => ask(key));
    service().clock.advance(1_000);
    for (let sent = 0; sent < 100; sent++) expect(await codeOf(key)).toBe("rate_limit_exceeded");
  });

  test("[open.ban-lift] lifting a ban also clears its strikes and resets the length of the next one", async () => {
    const { clock, store } = service();
    const { id, text: key } = await issue(2, 1_000);
    await provoke(key);
    // The service saves a ban without making its requests wait.
    const isSaved = async () => (await store.usage.loadBans()).some(({ keyId }) => keyId === id);
    await until(isSaved, 5_000, "the ban in the store");
    expect(await store.usage.liftBan(id, clock.now(), anEntry)).toBe(true);
    expect(await codeOf(key)).toBe("rate_limit_exceeded");
    await provoke(key);
    expect((await ask(key)).headers.get("Retry-After")).toBe("300");
  });

  test("[limits.5] a key that keeps sending requests after 429 is banned; one that backs off is not", async () => {
    const { clock } = service();
    const { text: stubborn } = await issue(2, 1_000);
    await provoke(stubborn);
    const { text: patient } = await issue(2, 40);
    let waitMs = 500;
    for (let attempt = 0; attempt < 200; attempt++) {
      const response = await ask(patient);
      expect((response.json as { code?: string }).code).not.toBe("key_banned");
      waitMs = response.status === 429 ? Math.min(2 * waitMs, 60_000) : 500;
      clock.advance(response.status === 429 ? waitMs : 0);
    }
  });

  test("[open.ban-patience] a job that retries every half hour on an exhausted day is never banned", async () => {
    const { clock } = service();
    const { text: key } = await issue(10, 1);
    await ask(key);
    for (let attempt = 0; attempt < 47; attempt++) {
      clock.advance(1_800_000);
      expect(await codeOf(key)).not.toBe("key_banned");
    }
  });
});
