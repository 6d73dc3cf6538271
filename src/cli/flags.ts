import { Refusal } from "../domain/errors.ts";
import { type Scope, scopes } from "../domain/keys.ts";
import { isPlan, type Limits, type Plan, planNames, plans } from "../domain/plans.ts";
import { parseInstant } from "../domain/values/instants.ts";

/** Reading what an operator typed after a flag; each refusal names the flag and the rule. */

const nameCharactersMax = 200;

export function readName(value: unknown): string {
  const name = typeof value === "string" ? value.trim() : "";
  if (name === "" || name.length > nameCharactersMax) {
    return fail("--name", `is required and has at most ${nameCharactersMax} characters`);
  }
  // A list of keys is one key a line, on somebody's terminal.
  if (/\p{Cc}/u.test(name)) return fail("--name", "must be one line of plain text");
  return name;
}

export function readPlan(value: unknown): Plan {
  const plan = String(value ?? "");
  return isPlan(plan) ? plan : fail("--plan", `must be one of ${planNames.join(", ")}`);
}

/** The plan's own numbers, or those given with the key where the plan has none. */
export function limitsFor(plan: Plan, perMinute: unknown, perDay: unknown): Limits {
  const fixed = plans[plan];
  if (fixed) {
    if (perMinute === undefined && perDay === undefined) return fixed;
    const custom = planNames.filter((name) => plans[name] === null);
    return fail("--per-minute and --per-day", `go with the plan ${custom.join(" or ")} only`);
  }
  const readCount = (flag: string, value: unknown): number => {
    const text = String(value ?? "");
    return /^[1-9][0-9]{0,11}$/.test(text)
      ? Number(text)
      : fail(flag, `is required for the plan ${plan} and must be a whole number from 1 on`);
  };
  return {
    perMinute: readCount("--per-minute", perMinute),
    perDay: readCount("--per-day", perDay),
  };
}

export function readScopes(value: unknown): readonly Scope[] {
  if (value === undefined) return scopes;
  const names = String(value)
    .split(",")
    .map((name) => name.trim());
  const known = scopes.filter((scope) => names.includes(scope));
  const isValid = names.every((name) => (scopes as readonly string[]).includes(name));
  return isValid ? known : fail("--scopes", `takes a list of ${scopes.join(", ")}`);
}

export function readInstant(flag: string, value: unknown, now: number): number | null {
  if (value === undefined) return null;
  const time = parseInstant(String(value));
  return time !== undefined && time > now
    ? time
    : fail(flag, "must be a date in the future such as 2027-01-31T00:00:00Z");
}

const unitMs: Record<string, number> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

export function readDuration(flag: string, value: unknown): number {
  const match = /^([0-9]{1,6})([smhd])$/.exec(String(value));
  if (match) return Number(match[1]) * unitMs[match[2]!]!;
  return value === "0" ? 0 : fail(flag, "must be a duration such as 30m, 24h or 7d");
}

function fail(flag: string, rule: string): never {
  throw new Refusal("invalid_request", `${flag} ${rule}`);
}
