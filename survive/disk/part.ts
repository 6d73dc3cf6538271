import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { openWorkspace } from "../../test/support/process.ts";
import type { Part } from "../part.ts";
import { compileTracer } from "../tracer/trace.ts";
import { breakService } from "./calls.ts";
import { createSite } from "./site.ts";

export const disk: Part = {
  name: "disk",
  share: 3,
  findProblem: compileTracer,
  async round(round) {
    const data = join(round.folder, "data");
    mkdirSync(data);
    const place = openWorkspace();
    try {
      await breakService(round, await createSite(place, data));
    } finally {
      await place.leave();
    }
  },
};
