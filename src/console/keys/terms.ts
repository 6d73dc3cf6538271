import { type Limits, type Plan, plans } from "../../domain/limits/plans.ts";
import type { NewKeyScopes } from "../client/types.ts";
import { capitalized, formatCount } from "../texts/formats.ts";

/** What an API key may do. */
export const scopeMeanings: Readonly<Record<NewKeyScopes, string>> = {
  "inventory:read": "Read the inventory",
  "inventory:write": "Change quantities",
  "pets:read": "Read the details of pets",
  "orders:read": "Read orders",
  "history:read": "Read the history of changes",
};

/** True if the limits of a plan are set per key. */
export function hasOwnLimits(plan: Plan): boolean {
  return plans[plan] === null;
}

/** For example "60 a minute, 1,000 a day". */
export function limitsText({ perMinute, perDay }: Limits): string {
  return `${formatCount(perMinute)} a minute, ${formatCount(perDay)} a day`;
}

/** For example "Business". */
export function planTitle(plan: string | null): string {
  return plan === null ? "Operator" : capitalized(plan);
}
