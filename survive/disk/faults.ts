// Chooses faults for the calls of a traced command.
import { closeSync, openSync, readFileSync, writeFileSync, writeSync } from "node:fs";
import { constants } from "node:os";
import type { Random } from "../random.ts";

const { EIO, ENOSPC, EROFS } = constants.errno;
const calls = { writes: 1, flushes: 2, truncations: 4 } as const;

/** A fault of the calls of tracer.c: see faults.h. */
export interface Fault {
  readonly name: string;
  /** The first four fields of the file that controls the tracer. */
  readonly fields: readonly [action: number, calls: number, every: number, value: number];
}

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

/** The file that controls a tracer. */
export function createFaultFile(path: string) {
  function set(fields: Fault["fields"]): void {
    const file = openSync(path, "r+");
    writeSync(file, new Uint32Array([...fields, 0, 0]));
    closeSync(file);
  }
  // Divided by `every` even if the tracer reads between two fields.
  writeFileSync(path, new Uint32Array([0, 0, 1, 0, 0, 0]));
  const injected = () => readFileSync(path).readUInt32LE(20);
  return {
    path,
    injected,
    begin: ({ fields }: Fault) => set(fields),
    /** Ends the fault. Returns how many calls it has hit. */
    end(): number {
      const count = injected();
      set([0, 0, 1, 0]);
      return count;
    },
  };
}
