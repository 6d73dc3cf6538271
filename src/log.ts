import type { Log } from "./domain/events.ts";
import { printable, withoutAddresses } from "./output.ts";

/** Writes one JSON object per line to standard error. */
export const logToStderr: Log = (event, details = {}) => {
  const line = JSON.stringify({ at: new Date().toISOString(), event, ...details }, toLogged);
  process.stderr.write(`${printable(line)}\n`);
};

function toLogged(_key: string, value: unknown): unknown {
  if (typeof value === "string") return withoutAddresses(value);
  return typeof value === "bigint" ? value.toString() : value;
}
