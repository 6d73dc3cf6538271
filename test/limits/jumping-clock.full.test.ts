import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { getKeyStatus } from "../../src/domain/keys/lifecycle.ts";
import { dayMs, minuteMs } from "../../src/domain/values/times.ts";
import { anEntry } from "../support/audit.ts";
import {
  engines,
  startTestService,
  type TestResponse,
  type TestService,
} from "../support/service.ts";
import { until } from "../support/until.ts";

const limits = { perMinute: 5, perDay: 1_000 };
const codeOf = ({ json }: TestResponse) => (json as { code: string }).code;
const waitOf = ({ headers }: TestResponse) => Number(headers.get("retry-after"));

describe.each(engines)("after a clock has jumped on %s", (engine) => {
  let service: TestService;
  let id: string;
  let key: string;
  beforeEach(async () => {
    service = await startTestService(engine);
    ({ id, text: key } = await service.issueKey({ plan: "enterprise", limits }));
  });
  afterEach(() => service.stop());

  const request = () => service.call("GET", "/nothing", { key });
  async function codes(count: number): Promise<string[]> {
    const found: string[] = [];
    while (found.length < count) found.push(codeOf(await request()));
    return found;
  }
  const limited = (count: number) => Array<string>(count).fill("rate_limit_exceeded");
  const admitted = (count: number) => Array<string>(count).fill("not_found");

  /** Lets time pass until three minutes after the next start of a day. */
  const nextDay = () => {
    const { clock } = service;
    clock.set(Math.ceil(clock.now() / dayMs) * dayMs + 3 * minuteMs);
  };

  /** Uses up the minute and goes on until the key is banned. The ban is stored when this resolves. */
  async function earnBan(): Promise<TestResponse> {
    await codes(limits.perMinute + 1);
    service.clock.advance(1_001);
    await codes(19);
    const banned = await request();
    expect(codeOf(banned)).toBe("key_banned");
    await until(async () => (await stateOf()) === "banned", 5_000, "the ban is not stored");
    return banned;
  }
  const stateOf = async () => (await getKeyStatus(service.store, service.clock.now(), id)).state;

  test("by 411 days and back, and then forward before a restart, a new minute is open", async () => {
    service.clock.jump(411 * dayMs);
    await codes(limits.perMinute);
    // Saves the counts.
    await service.restart();
    service.clock.jump(-411 * dayMs);
    expect(await codes(1)).toEqual(limited(1));
    service.clock.advance(10 * minuteMs);
    await service.restart();
    expect(await codes(limits.perMinute)).toEqual(admitted(limits.perMinute));
  });

  for (const isRestarted of [false, true]) {
    const restart = isRestarted ? ", and the service restarted" : "";

    test(`by 411 days and back${restart}, the ban and the counts of that time end within a minute`, async () => {
      service.clock.jump(411 * dayMs);
      await earnBan();
      service.clock.jump(-411 * dayMs);
      if (isRestarted) await service.restart();
      const first = await request();
      expect(codeOf(first)).toBe("rate_limit_exceeded");
      expect(waitOf(first)).toBeLessThanOrEqual(60);
      expect(await stateOf()).toBe("active");
      service.clock.advance(waitOf(first) * 1_000);
      expect(await codes(limits.perMinute + 1)).toEqual([
        ...admitted(limits.perMinute),
        ...limited(1),
      ]);
    });

    test(`back by an hour${restart}, a key at its limit waits for the end of the minute and is not banned`, async () => {
      expect(await codes(limits.perMinute + 1)).toEqual([...admitted(5), ...limited(1)]);
      service.clock.jump(-3_600_000);
      if (isRestarted) await service.restart();
      // It goes on, though less than a ban takes.
      expect(await codes(19)).toEqual(limited(19));
      const last = await request();
      expect([codeOf(last), waitOf(last)]).toEqual(["rate_limit_exceeded", 60]);
      service.clock.advance(minuteMs);
      expect(await codes(limits.perMinute)).toEqual(admitted(5));
    });

    test(`back by 10 seconds${restart}, no window reopens`, async () => {
      service.clock.advance(2 * minuteMs);
      await codes(limits.perMinute);
      service.clock.jump(-10_000);
      if (isRestarted) await service.restart();
      for (let second = 0; second < 70; second += 5) {
        expect(await codes(1)).toEqual(limited(1));
        service.clock.advance(5_000);
      }
      expect(await codes(1)).toEqual(admitted(1));
    });
  }

  test("a ban that begins later is stored, doubles as usual, and can be lifted", async () => {
    service.clock.jump(411 * dayMs);
    await earnBan();
    service.clock.jump(-411 * dayMs);
    service.clock.advance(minuteMs);
    const first = await earnBan();
    expect(waitOf(first)).toBe(300);
    await service.restart();
    expect(codeOf(await request())).toBe("key_banned");
    service.clock.advance(300_000 + minuteMs);
    expect(waitOf(await earnBan())).toBe(600);
    expect(await service.store.usage.liftBan(id, service.clock.now(), anEntry)).toBe(true);
    service.clock.advance(minuteMs);
    expect(await codes(1)).toEqual(admitted(1));
    await service.restart();
    expect(await codes(1)).toEqual(admitted(1));
  });

  test("by any distance, no client waits longer than a window and 10 seconds, or is banned for longer than its ban", async () => {
    for (const jumpMs of [-9_000, -11_000, -59_000, -61_000, -3_600_000, -30 * dayMs, 30 * dayMs]) {
      nextDay();
      await codes(limits.perMinute + 1);
      service.clock.jump(jumpMs);
      const refused = await request();
      if (refused.status === 429) expect(waitOf(refused)).toBeLessThanOrEqual(70);
      nextDay();
      const length = waitOf(await earnBan());
      service.clock.jump(jumpMs);
      const banned = await request();
      if (codeOf(banned) === "key_banned") expect(waitOf(banned)).toBeLessThanOrEqual(length + 10);
      // So long that no ban is in force, and none counts for the length of the next one.
      service.clock.advance(3 * dayMs + Math.abs(jumpMs));
    }
  });
});
