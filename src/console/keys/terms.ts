import { type Limits, type Plan, plans } from "../../domain/limits/plans.ts";
import type { NewKeyScopes, OperatorRole } from "../client/types.ts";
import { capitalized, formatCount } from "../texts/formats.ts";

/** What an API key may do. */
export const scopeMeanings: Readonly<Record<NewKeyScopes, string>> = {
  "inventory:read": "Read the inventory",
  "inventory:write": "Change quantities",
  "pets:read": "Read the details of pets",
  "orders:read": "Read orders",
  "history:read": "Read the history of changes",
};

/** What an operator may do. */
export const roleMeanings: Readonly<Record<OperatorRole, string>> = {
  owner: "Everything, also keys, webhooks and backups",
  clerk: "Change stock and pets, count, import, undo",
  viewer: "Read only, and no keys, webhooks or backups",
};

/** What a new key is for. Plan and scopes fit it, and can be changed in the form. */
export interface KeyUse {
  readonly title: string;
  readonly hint: string;
  readonly plan: Plan;
  /** Undefined for all. */
  readonly scopes?: readonly NewKeyScopes[];
}

export const keyUses = {
  "web-shop": {
    title: "Web shop",
    hint: "shows pets and stock, and books sales",
    plan: "business",
    scopes: ["inventory:read", "inventory:write", "pets:read", "orders:read"],
  },
  till: {
    title: "Till",
    hint: "books sales in the shop",
    plan: "pro",
    scopes: ["inventory:read", "inventory:write", "pets:read"],
  },
  "read-only": {
    title: "Read only",
    hint: "for a report or a display",
    plan: "free",
    scopes: ["inventory:read", "pets:read", "orders:read", "history:read"],
  },
  other: { title: "Something else", hint: "you choose plan and scopes", plan: "free" },
} as const satisfies Readonly<Record<string, KeyUse>>;

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
