import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { dayMs } from "../../src/domain/values/times.ts";
import {
  startTestService,
  surfaceEngine,
  type TestResponse,
  type TestService,
} from "../support/service.ts";
import { until } from "../support/until.ts";

const isReplay = ({ headers }: TestResponse) => headers.get("Idempotent-Replayed") === "true";

describe.each([surfaceEngine])("after the clock has jumped by nine days on %s", (engine) => {
  let service: TestService;
  let key: string;
  beforeEach(async () => {
    service = await startTestService(engine);
    await service.addPets({ petId: 1n }, { petId: 2n });
    ({ text: key } = await service.issueKey());
  });
  afterEach(() => service.stop());

  const update = (petId: number, quantity: number, idempotencyKey: string) =>
    service.call("PATCH", `/inventory/${petId}`, {
      key,
      body: `{"quantity":${quantity}}`,
      headers: { "Idempotency-Key": idempotencyKey },
    });
  const jumps = () => service.logged.filter((line) => line.includes("clock jumped"));

  for (const isRestarted of [false, true]) {
    const restart = isRestarted ? ", and the service restarted" : "";
    test(`a retry is not applied again${restart}, also after other updates`, async () => {
      const first = await update(1, 5, "one");
      service.clock.advance(2_000);
      await update(1, 6, "two");
      service.clock.jump(9 * dayMs);
      if (isRestarted) await service.restart();
      await update(2, 7, "three");
      const again = await update(1, 5, "one");
      expect([again.text, isReplay(again)]).toEqual([first.text, true]);
      const { json } = await service.call("GET", "/inventory/1", { key });
      expect(json).toMatchObject({ quantity: 6 });
    });
  }

  test("a retry is a new request once the key is seven days old by the time that passed", async () => {
    await update(1, 5, "one");
    service.clock.jump(9 * dayMs);
    service.clock.advance(7 * dayMs);
    await update(2, 7, "two");
    service.clock.advance(1_001);
    expect(isReplay(await update(1, 5, "one"))).toBe(false);
  });

  test("the log says so once", async () => {
    await update(1, 5, "one");
    service.clock.jump(9 * dayMs);
    await update(2, 7, "two");
    await until(() => jumps().length > 0, 5_000, "the jump is not logged");
    await update(1, 5, "one");
    const clocks = engine === "sqlite" ? ["service"] : ["database server", "service"];
    const found = jumps().map((line) => JSON.parse(line) as { clock: string; byMs: number });
    expect(found.map(({ clock }) => clock).sort()).toEqual(clocks);
    expect(found.map(({ byMs }) => byMs)).toEqual(found.map(() => 9 * dayMs));
  });
});
