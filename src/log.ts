import type { Log } from "./domain/ports.ts";

/** One JSON object a line on standard error. */
export const logToStderr: Log = (event, details = {}) => {
  const line = JSON.stringify({ at: new Date().toISOString(), event, ...details }, (_key, value) =>
    typeof value === "bigint" ? value.toString() : value,
  );
  process.stderr.write(`${line}\n`);
};
