import { openWorkspace, type Workspace } from "../../test/support/process.ts";
import type { Part, Round } from "../part.ts";
import { compileTracer } from "../tracer/trace.ts";
import { breakCommands, breakService } from "./calls.ts";
import { fillFileSystem, stopWrites } from "./file-systems.ts";
import { damagePages } from "./pages.ts";

/** What a round breaks: the one with the number of its seed. */
const kinds: readonly ((round: Round, place: Workspace) => Promise<void>)[] = [
  breakService,
  breakCommands,
  fillFileSystem,
  stopWrites,
  damagePages,
];

export const disk: Part = {
  name: "disk",
  share: 3,
  findProblem: compileTracer,
  async round(round) {
    const place = openWorkspace();
    try {
      await kinds[round.seed % kinds.length]!(round, place);
    } finally {
      await place.leave();
    }
  },
};
