// Runs processes with a clock that the round moves.
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { compile } from "../../bench/compile.ts";

const library = join(import.meta.dir, "../../dist/survive/clock.so");
let compiled: Promise<string | undefined> | undefined;

/** Compiles the library. Returns why that is impossible, or undefined. */
export function compileClock(): Promise<string | undefined> {
  mkdirSync(dirname(library), { recursive: true });
  compiled ??= compile("../survive/clock/clock.c", library, ["-shared", "-fPIC", "-ldl"]);
  return compiled;
}

/** A clock of processes, in a file that they read at every look at it. */
export function createMovableClock(file: string, initialMs: number) {
  let aheadMs = initialMs;
  const write = (stoppedMs: number) => {
    const numbers = [aheadMs, stoppedMs].map((ms) => BigInt(Math.round(ms)) * 1_000_000n);
    writeFileSync(file, new Uint8Array(BigInt64Array.from(numbers).buffer), { flag: "r+" });
  };
  writeFileSync(file, new Uint8Array(16));
  write(0);
  const now = () => Date.now() + aheadMs;
  return {
    /** The variables of a process that has this clock. */
    env: { LD_PRELOAD: library, SURVIVE_CLOCK: file },
    now,
    moveBy(ms: number): void {
      aheadMs += ms;
      write(0);
    },
    /** The clock shows the same time for a while, and goes on from there: it is slow from then on. */
    async standStill(ms: number): Promise<void> {
      const stoppedAt = now();
      write(stoppedAt);
      await Bun.sleep(ms);
      aheadMs = stoppedAt - Date.now();
      write(0);
    },
  };
}
