import { expect, test } from "bun:test";
import { join } from "node:path";
import { Book } from "../bench/book.ts";
import type { Measured } from "../bench/generator.ts";
import { readOptions } from "../bench/options.ts";
import { quickLoad } from "../bench/quick.ts";
import { engines, startTestService } from "./support/service.ts";

test.each(engines)(
  "under parallel reads and writes on %s every answer is right, and no read is stale",
  async (engine) => {
    const service = await startTestService(engine);
    try {
      await service.addPets(...Array.from({ length: 50 }, (_, at) => ({ petId: BigInt(at + 1) })));
      const limits = { perMinute: 1_000_000_000, perDay: 1_000_000_000 };
      const { text: key } = await service.issueKey({ plan: "enterprise", limits });
      const { gets, patches } = await quickLoad({ url: service.baseUrl, key, durationMs: 1_500 });
      expect(gets).toBeGreaterThan(10);
      expect(patches).toBeGreaterThan(10);
    } finally {
      await service.stop();
    }
  },
);

test("a checkout beside another is told by its ratio, and the noise by the other's own", () => {
  const book = new Book();
  const measured = (requests: number, cpuMicroseconds: number) =>
    ({ seconds: 2, get: { requests }, cpuMicroseconds }) as unknown as Measured;
  const [old, fresh, again] = [measured(100, 10), measured(90, 11), measured(110, 9)];
  book.beside("GET", "get", { old, fresh, again });
  expect(book.besides).toEqual([
    { scenario: "GET", measure: "CPU µs/answer", old: 10, fresh: 11, ratio: 1.1, noise: 0.9 },
    { scenario: "GET", measure: "answers/s", old: 50, fresh: 45, ratio: 0.9, noise: 1.1 },
  ]);
});

test("a folder that is no checkout with its dependencies is refused before anything runs", () => {
  expect(() => readOptions(["--beside", import.meta.dir])).toThrow("has no bin/petstore");
  const { only, beside } = readOptions(["--beside", join(import.meta.dir, "..")]);
  expect([...only]).toEqual(["beside"]);
  expect(beside).toBe(join(import.meta.dir, ".."));
});
