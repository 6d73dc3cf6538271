import { InvalidField } from "./invalid-field.ts";
import { defaultScopes, type Key, type Scope, scopes } from "./keys.ts";
import { checkName } from "./names.ts";
import { isPlan, type Limits, type Plan, planNames, plans } from "./plans.ts";

/**
 * What an operator chooses for a new key. Callers convert text to numbers and pass NaN for text that
 * is not a number. No rule accepts NaN, so the error names the rule in either case.
 */
export interface KeyTerms {
  readonly name: string;
  readonly plan: string;
  /** Required for a plan without fixed limits. Other plans do not allow it. */
  readonly perMinute?: number | undefined;
  readonly perDay?: number | undefined;
  /** `defaultScopes` if undefined. */
  readonly scopes?: readonly string[] | undefined;
  /** Milliseconds since 1970. If undefined, the key does not expire. */
  readonly expiresAt?: number | undefined;
}

const limitMax = 999_999_999_999;

/** Checks the terms of a key that is issued at `now`. Throws InvalidField for the first broken rule. */
export function checkTerms(
  terms: KeyTerms,
  now: number,
): Pick<Key, "name" | "plan" | "limits" | "scopes" | "expiresAt"> {
  const plan = checkPlan(terms.plan);
  return {
    name: checkName(terms.name),
    plan,
    limits: checkLimits(plan, terms),
    scopes: checkScopes(terms.scopes),
    expiresAt: checkExpiry(terms.expiresAt, now),
  };
}

function checkPlan(plan: string): Plan {
  if (isPlan(plan)) return plan;
  throw new InvalidField("plan", `must be one of ${planNames.join(", ")}`);
}

function checkLimits(plan: Plan, terms: KeyTerms): Limits {
  const fixed = plans[plan];
  const limit = (field: "perMinute" | "perDay"): number => {
    const value = terms[field];
    if (fixed) {
      if (value === undefined) return fixed[field];
      const custom = planNames.filter((name) => plans[name] === null);
      throw new InvalidField(field, `is allowed only for the plan ${custom.join(" or ")}`);
    }
    if (Number.isInteger(value) && value! >= 1 && value! <= limitMax) return value!;
    const rule = `is required for the plan ${plan} and must be an integer from 1 to ${limitMax}`;
    throw new InvalidField(field, rule);
  };
  return { perMinute: limit("perMinute"), perDay: limit("perDay") };
}

function checkScopes(names: readonly string[] | undefined): readonly Scope[] {
  if (names === undefined) return defaultScopes;
  const known: readonly string[] = scopes;
  if (names.length === 0 || !names.every((name) => known.includes(name))) {
    throw new InvalidField("scopes", `must list one or more of ${scopes.join(", ")}`);
  }
  return scopes.filter((scope) => names.includes(scope));
}

function checkExpiry(expiresAt: number | undefined, now: number): number | null {
  if (expiresAt === undefined) return null;
  if (expiresAt > now) return expiresAt;
  throw new InvalidField("expiresAt", "must be a time in the future, such as 2027-01-31T00:00:00Z");
}
