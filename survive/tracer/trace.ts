// Runs a command under tracer.c.
import { mkdirSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { compile } from "../../bench/compile.ts";

let compiled: Promise<string | undefined> | undefined;
const binary = join(import.meta.dir, "../../dist/survive/tracer");

/** Compiles the tracer. Returns why that is impossible, or undefined. */
export function compileTracer(): Promise<string | undefined> {
  mkdirSync(dirname(binary), { recursive: true });
  compiled ??= compile("../survive/tracer/tracer.c", binary, []);
  return compiled;
}

/** The words that run a command so that its changes to `folder` are recorded in `log`. */
export function traced(folder: string, log: string, faults = "-"): readonly string[] {
  return [binary, folder, log, faults];
}

/** The length of a log. Everything that the command has changed is before it. */
export function positionIn(log: string): number {
  return statSync(log).size;
}
