import { afterAll, beforeAll, describe } from "bun:test";
import { type Engine, engines, startTestService, type TestService } from "./service.ts";

/**
 * Runs a part of the conformance suite once on every engine, each time on a service of its own.
 * The tests reach it through a function, since it starts only after they were declared.
 */
export function onEveryEngine(
  title: string,
  define: (service: () => TestService, engine: Engine) => void,
  flags: Record<string, string> = {},
): void {
  describe.each(engines)(`${title} on %s`, (engine) => {
    let service: TestService;
    beforeAll(async () => {
      service = await startTestService(engine, flags);
    });
    afterAll(() => service.stop());
    define(() => service, engine);
  });
}

/** Runs `work` against a service with settings of its own, and stops it whatever happens. */
export async function withService(
  engine: Engine,
  flags: Record<string, string>,
  work: (service: TestService) => Promise<void>,
): Promise<void> {
  const service = await startTestService(engine, flags);
  try {
    await work(service);
  } finally {
    await service.stop();
  }
}

/** Sends `count` requests one after the other and gives their statuses. */
export async function statusesOf(
  count: number,
  ask: () => Promise<{ status: number }>,
): Promise<number[]> {
  const statuses: number[] = [];
  for (let sent = 0; sent < count; sent++) statuses.push((await ask()).status);
  return statuses;
}
