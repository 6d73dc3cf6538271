import { afterAll, beforeAll, describe } from "bun:test";
import type { Config } from "../../src/config.ts";
import { type Engine, engines, startTestService, type TestService } from "./service.ts";

type Part = [
  title: string,
  define: (service: () => TestService, engine: Engine) => void,
  flags?: Record<string, string>,
  bounds?: Partial<Config>,
];

/**
 * Runs a part of the conformance suite once on every engine, each time on a new service. Tests get
 * the service from a function, because it starts after they are declared.
 */
export function onEveryEngine(...part: Part): void {
  for (const engine of engines) onEngine(engine, ...part);
}

/** The same on one engine. */
export function onEngine(engine: Engine, ...part: Part): void {
  const [title, define, flags = {}, bounds = {}] = part;
  describe(`${title} on ${engine}`, () => {
    let service: TestService;
    beforeAll(async () => {
      service = await startTestService(engine, flags, bounds);
    });
    afterAll(() => service.stop());
    define(() => service, engine);
  });
}

/** Starts a service with these settings, runs `work` and stops the service. */
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

/** Sends `count` requests one after the other and returns their statuses. */
export async function statusesOf(
  count: number,
  ask: () => Promise<{ status: number }>,
): Promise<number[]> {
  const statuses: number[] = [];
  for (let sent = 0; sent < count; sent++) statuses.push((await ask()).status);
  return statuses;
}
