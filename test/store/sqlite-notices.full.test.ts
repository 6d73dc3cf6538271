import { expect, test } from "bun:test";
import { constants } from "node:os";
import { join } from "node:path";
import { createFaultFile } from "../../survive/tracer/faults.ts";
import { compileTracer, traced } from "../../survive/tracer/trace.ts";
import { openWorkspace, petstore } from "../support/process.ts";
import { until } from "../support/until.ts";

const problem = await compileTracer();

test.skipIf(problem !== undefined)(
  "a command that has stored a key prints it, also if the service cannot confirm that at once or at all (needs cc)",
  async () => {
    const place = openWorkspace();
    const create = () => place.run(["keys", "create", "--name", "Till", "--plan", "pro", "--json"]);
    try {
      await create();
      const faults = createFaultFile(join(place.folder, "faults"));
      const data = join(place.folder, "data");
      const command = [...traced(data, join(place.folder, "log"), faults.path), petstore];
      await place.serve(["serve"], { command });
      const failing = {
        name: "EIO for all writes",
        fields: [1, 1, 1, constants.errno.EIO],
      } as const;

      faults.begin(failing);
      const late = create();
      await until(() => faults.injected() > 0, 60_000, "a write that fails");
      faults.end();
      const confirmed = await late;
      expect([confirmed.code, confirmed.err]).toEqual([0, ""]);

      faults.begin(failing);
      const { code, out, err } = await create();
      expect(code).toBe(0);
      expect(err).toContain("does not respond");
      expect(JSON.parse(out).key).toStartWith("psk_live_");
    } finally {
      await place.leave();
    }
  },
);
