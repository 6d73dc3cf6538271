import { expect, test } from "bun:test";
import { quickLoad } from "../bench/quick.ts";
import { engines, startTestService } from "./service.ts";

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
