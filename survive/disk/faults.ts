// Chooses faults for the calls of a traced command.
import { constants } from "node:os";
import type { Random } from "../random.ts";
import type { Fault } from "../tracer/faults.ts";

const { EIO, ENOSPC, EROFS } = constants.errno;
const calls = { writes: 1, flushes: 2, truncations: 4 } as const;

export function chooseFault(random: Random, isShort: boolean): Fault {
  const every = random.pick([1, 1, 2, 3, 7, 30]);
  const [name, mask] = random.pick([
    ["writes", calls.writes],
    ["flushes", calls.flushes],
    ["flushes", calls.flushes],
    ["truncations", calls.truncations],
    ["writes, flushes and truncations", 7],
  ] as const);
  const which = every === 1 ? `all ${name}` : `1 of ${every} ${name}`;
  const kind = random.pick(["fail", "fail", "fail", "short", "delay"]);
  if (kind === "short")
    return { name: `1 of ${every} writes are short`, fields: [2, calls.writes, every, 0] };
  if (kind === "fail") {
    const [text, errno] = random.pick([
      ["EIO", EIO],
      ["ENOSPC", ENOSPC],
      ["EROFS", EROFS],
    ] as const);
    return { name: `${text} for ${which}`, fields: [1, mask, every, errno] };
  }
  const ms = isShort || random.chance(0.7) ? 50 : random.pick([3_000, 12_000]);
  // Long delays hit few calls: a round has only seconds.
  const rarely = ms === 50 ? every : 100;
  return { name: `${ms} ms for 1 of ${rarely} ${name}`, fields: [3, mask, rarely, ms] };
}

export const failingFlushes: Fault = { name: "EIO for all flushes", fields: [1, 2, 1, EIO] };
