// Describes the machine on which the figures were measured.
import {
  closeSync,
  fdatasyncSync,
  openSync,
  readFileSync,
  rmSync,
  statfsSync,
  writeSync,
} from "node:fs";
import { cpus, release, totalmem, type } from "node:os";
import { join } from "node:path";
import { packageVersion } from "../src/version.ts";
import { run } from "./processes.ts";

export interface Machine {
  version: string;
  date: string;
  processor: string;
  memory: string;
  system: string;
  runtimes: string;
  disk: string;
}

const tmpfsMagic = 0x01021994;

export async function describeMachine(directory: string): Promise<Machine> {
  const node = await run(["node", "--version"]).then(
    (version) => `Node ${version.trim().slice(1)}`,
    () => "no Node",
  );
  return {
    version: packageVersion(),
    date: new Date().toISOString().slice(0, 10),
    processor: `${cpus().length} × ${processorModel()}`,
    memory: `${Math.round(totalmem() / 2 ** 30)} GB`,
    system: `${type()} ${release().split(".").slice(0, 2).join(".")}`,
    runtimes: `Bun ${Bun.version}, ${node}`,
    disk: `a 4 KB write and flush takes ${flushMedianMs(directory).toFixed(2)} ms`,
  };
}

/** In memory a flush costs nothing, so the cost of a durable write cannot be measured. */
export function isInMemory(directory: string): boolean {
  return process.platform === "linux" && statfsSync(directory).type === tmpfsMagic;
}

function processorModel(): string {
  const model = cpus()[0]?.model ?? "unknown";
  if (model !== "unknown" || process.platform !== "linux") return model;
  return /model name\s*: (.*)/.exec(readFileSync("/proc/cpuinfo", "utf8"))?.[1] ?? model;
}

function flushMedianMs(directory: string): number {
  const file = join(directory, "flush-probe");
  const descriptor = openSync(file, "w");
  const page = new Uint8Array(4096);
  const times = Array.from({ length: 101 }, () => {
    const startedAt = performance.now();
    writeSync(descriptor, page);
    fdatasyncSync(descriptor);
    return performance.now() - startedAt;
  });
  closeSync(descriptor);
  rmSync(file);
  return times.sort((one, other) => one - other)[50]!;
}
