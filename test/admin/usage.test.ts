import { describe, expect, test } from "bun:test";
import { issueOperator } from "../support/admin/operators.ts";
import { startTestService, surfaceEngine, type TestService } from "../support/service.ts";

interface Usage {
  readonly step: string;
  readonly from: string;
  readonly admitted: readonly number[];
  readonly refused: readonly number[];
  readonly withoutKey?: readonly number[];
}

/** The points with requests, counted from the last one. */
function filled({ admitted, refused }: Usage): [back: number, admitted: number, refused: number][] {
  return admitted.flatMap((count, at) =>
    count + refused[at]! > 0 ? [[admitted.length - 1 - at, count, refused[at]!]] : [],
  );
}

async function read(service: TestService, operator: string, path: string): Promise<Usage> {
  return (await service.call("GET", `~/admin${path}`, { key: operator })).json as Usage;
}

describe.each([surfaceEngine])("usage on %s", (engine) => {
  test("counts admitted and refused requests per minute and day, at once and after a restart", async () => {
    const service = await startTestService(engine);
    try {
      const operator = (await issueOperator(service)).text;
      const key = await service.issueKey({ limits: { perMinute: 3, perDay: 100 } });
      const ask = (text?: string) => service.call("GET", "/inventory/1", { key: text });
      for (let at = 0; at < 5; at++) await ask(key.text);
      await ask("psk_live_wrong");
      service.clock.advance(60_000);
      await ask(key.text);
      const path = `/keys/${key.id}/usage`;
      const minutes = await read(service, operator, path);
      expect(minutes).toMatchObject({ step: "minute", from: "2026-11-14T12:02:00.000Z" });
      expect(minutes.admitted).toHaveLength(1_440);
      const counted: [number, number, number][] = [
        [1, 3, 2],
        [0, 1, 0],
      ];
      expect(filled(minutes)).toEqual(counted);
      const days = await read(service, operator, `${path}?step=day`);
      expect(days).toMatchObject({ step: "day", from: "2025-10-16T00:00:00.000Z" });
      expect(filled(days)).toEqual([[0, 4, 2]]);
      await service.restart();
      expect(filled(await read(service, operator, path))).toEqual(counted);
      const all = await read(service, operator, "/usage");
      expect(all.withoutKey?.slice(-2)).toEqual([1, 0]);
      // The operator's own requests count too: two before the restart, two after it, and this one.
      expect(filled(all)).toEqual([
        [1, 3, 2],
        [0, 1 + 4, 0],
      ]);
      service.clock.advance(86_400_000);
      expect(filled(await read(service, operator, path))).toEqual([]);
      expect(filled(await read(service, operator, `${path}?step=day`))).toEqual([[1, 4, 2]]);
    } finally {
      await service.stop();
    }
  });
});

test("usage of two instances adds up", async () => {
  const one = await startTestService("postgres");
  const other = await startTestService("postgres", { database: one.databaseUrl });
  const operator = (await issueOperator(one)).text;
  const key = await one.issueKey();
  try {
    for (const service of [one, other, other]) {
      await service.call("GET", "/inventory/1", { key: key.text });
    }
  } finally {
    await other.stop();
  }
  const usage = await read(one, operator, `/keys/${key.id}/usage`);
  await one.stop();
  expect(filled(usage)).toEqual([[0, 3, 0]]);
});
