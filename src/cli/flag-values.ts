import { ServiceError } from "../domain/running/errors.ts";
import { parseDuration as parseDurationMs } from "../domain/values/durations.ts";
import { parseInstant } from "../domain/values/instants.ts";

/** Converts the texts of flags. The domain rejects NaN and names the rule. */

export function parseCount(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  return /^[1-9][0-9]*$/.test(text) ? Number(text) : Number.NaN;
}

export function parseTime(text: string | undefined): number | undefined {
  return text === undefined ? undefined : (parseInstant(text) ?? Number.NaN);
}

export function parseList(text: string | undefined): readonly string[] | undefined {
  return text?.split(",").map((item) => item.trim());
}

export function parseDuration(flag: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const durationMs = parseDurationMs(text);
  if (durationMs !== undefined) return durationMs;
  throw new ServiceError("invalid_request", `--${flag} must be a duration such as 30m, 24h or 7d`);
}

/** Reads a number of rows, or the `seq` of a ledger row. `name` is the flag or the operand. */
export function parseInteger(name: string, text: string, min: number): number {
  const value = /^(?:0|[1-9][0-9]{0,15})$/.test(text) ? Number(text) : Number.NaN;
  if (value >= min && value <= Number.MAX_SAFE_INTEGER) return value;
  const rule = `must be an integer from ${min} to ${Number.MAX_SAFE_INTEGER}`;
  throw new ServiceError("invalid_request", `${name} ${rule}, not '${text}'`);
}
