import { isPlan, type Limits, limitMax, type Plan, planNames, plans } from "../limits/plans.ts";
import { InvalidField } from "../running/errors.ts";
import { checkChoice, checkName } from "../values/texts.ts";
import {
  defaultScopes,
  type Key,
  kindOf,
  operatorLimits,
  operatorPlan,
  type Role,
  roleScopes,
  roles,
  type Scope,
  scopes,
} from "./keys.ts";

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
  /** Only for an operator key, which is an owner's if undefined. */
  readonly role?: string | undefined;
}

/** What an operator chooses for a new operator key. Its limits are fixed. */
export type OperatorTerms = Pick<KeyTerms, "name" | "expiresAt" | "role">;

/** What an operator changes of a key. An undefined field stays; an `expiresAt` of null means never. */
export type KeyChange = {
  readonly [Field in Exclude<keyof KeyTerms, "expiresAt">]?: KeyTerms[Field] | undefined;
} & {
  readonly expiresAt?: number | null | undefined;
};

type CheckedTerms = Pick<Key, "name" | "plan" | "limits" | "scopes" | "expiresAt">;

/** Checks the terms of a key that is issued at `now`. Throws InvalidField for the first broken rule. */
export function checkTerms(terms: KeyTerms, now: number): CheckedTerms {
  rejectRole(terms);
  const plan = checkPlan(terms.plan);
  return {
    name: checkName(terms.name),
    plan,
    limits: checkLimits(plan, terms),
    scopes: checkScopes(terms.scopes),
    expiresAt: checkExpiry(terms.expiresAt, now),
  };
}

export function checkOperatorTerms(terms: OperatorTerms, now: number): CheckedTerms {
  return {
    name: checkName(terms.name),
    plan: operatorPlan,
    limits: operatorLimits,
    scopes: [roleScopes[checkRole(terms.role ?? "owner")]],
    expiresAt: checkExpiry(terms.expiresAt, now),
  };
}

/** Checks a change of a key, and returns all its terms. */
export function checkChange(key: Key, change: KeyChange, now: number): CheckedTerms {
  const { name = key.name, expiresAt = key.expiresAt } = change;
  // A time that has passed may stay.
  const checkedExpiry =
    expiresAt === key.expiresAt ? expiresAt : checkExpiry(expiresAt ?? undefined, now);
  const kept = { name: checkName(name), expiresAt: checkedExpiry };
  if (kindOf(key) === "operator") {
    rejectFixedTerms(change);
    const { role } = change;
    const scopes = role === undefined ? key.scopes : [roleScopes[checkRole(role)]];
    return { plan: key.plan, limits: key.limits, scopes, ...kept };
  }
  rejectRole(change);
  const plan = checkPlan(change.plan ?? key.plan);
  const isCustom = plans[plan] === null;
  const limits = checkLimits(plan, {
    perMinute: change.perMinute ?? (isCustom ? key.limits.perMinute : undefined),
    perDay: change.perDay ?? (isCustom ? key.limits.perDay : undefined),
  });
  return { plan, limits, scopes: checkScopes(change.scopes ?? key.scopes), ...kept };
}

export const fixedForOperators = "cannot be set for an operator key";

/** Throws if the terms of an operator key name what only API keys have. */
export function rejectFixedTerms(terms: KeyChange): void {
  for (const field of ["plan", "perMinute", "perDay", "scopes"] as const) {
    if (terms[field] !== undefined) throw new InvalidField(field, fixedForOperators);
  }
}

export const onlyForOperators = "can be set only for an operator key";

function rejectRole({ role }: KeyChange): void {
  if (role !== undefined) throw new InvalidField("role", onlyForOperators);
}

export const roleRule = `must be one of ${roles.join(", ")}`;

function checkRole(name: string): Role {
  const role = roles.find((one) => one === name);
  if (role === undefined) throw new InvalidField("role", roleRule);
  return role;
}

function checkPlan(plan: string): Plan {
  if (isPlan(plan)) return plan;
  throw new InvalidField("plan", `must be one of ${planNames.join(", ")}`);
}

function checkLimits(plan: Plan, terms: Pick<KeyTerms, "perMinute" | "perDay">): Limits {
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
  return names === undefined ? defaultScopes : checkChoice("scopes", names, scopes);
}

function checkExpiry(expiresAt: number | undefined, now: number): number | null {
  if (expiresAt === undefined) return null;
  if (expiresAt > now) return expiresAt;
  throw new InvalidField("expiresAt", "must be a time in the future, such as 2027-01-31T00:00:00Z");
}
