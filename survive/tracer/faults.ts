// Controls the faults of a tracer while it runs.
import { closeSync, openSync, readFileSync, writeFileSync, writeSync } from "node:fs";

/** A fault of the calls of tracer.c: see faults.h. */
export interface Fault {
  readonly name: string;
  /** The first four fields of the file that controls the tracer. */
  readonly fields: readonly [action: number, calls: number, every: number, value: number];
}

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

export type FaultFile = ReturnType<typeof createFaultFile>;
