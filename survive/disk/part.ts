import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { openWorkspace } from "../../test/support/process.ts";
import type { Part, Round } from "../part.ts";
import { compileTracer } from "../tracer/trace.ts";
import { breakCommands, breakService } from "./calls.ts";
import { createSite, type Site } from "./site.ts";

/** What a round breaks. */
export const kinds: Readonly<Record<string, (round: Round, site: Site) => Promise<void>>> = {
  service: breakService,
  commands: breakCommands,
};

/** The kind of the round with this seed. */
export const kindOf = ({ random }: Pick<Round, "random">) => random.pick(Object.keys(kinds));

export const disk: Part = {
  name: "disk",
  share: 3,
  findProblem: compileTracer,
  async round(round) {
    const data = join(round.folder, "data");
    mkdirSync(data);
    const place = openWorkspace();
    try {
      await kinds[kindOf(round)]!(round, await createSite(place, data));
    } finally {
      await place.leave();
    }
  },
};
