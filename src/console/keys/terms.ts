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

/** What an operator may do: the name of the role, and its meaning. */
export const roleChoices: readonly Choice<OperatorRole>[] = [
  ["owner", "Owner", "everything, also keys, webhooks and backups"],
  ["clerk", "Clerk", "changes stock and pets, counts, imports, undoes"],
  ["viewer", "Viewer", "only reads, and sees no keys, webhooks or backups"],
];

/** A value, its title, and more about it in small letters. */
export type Choice<Value extends string = string> = readonly [Value, title: string, hint: string];

/** What a new API key is for. */
export const keyUses: readonly Choice[] = [
  ["web-shop", "Web shop", "shows pets and stock, and books sales"],
  ["till", "Till", "books sales in the shop"],
  ["read-only", "Read only", "for a report or a display"],
  ["other", "Something else", "you choose plan and scopes"],
];

const tillScopes = ["inventory:read", "inventory:write", "pets:read"];
const readScopes = Object.keys(scopeMeanings).filter((scope) => scope.endsWith(":read"));

/** The plan and the scopes that fit a use. The person can change them. Otherwise all scopes. */
export const usualTerms: Readonly<Record<string, { plan: Plan; scopes: readonly string[] }>> = {
  "web-shop": { plan: "business", scopes: [...tillScopes, "orders:read"] },
  till: { plan: "pro", scopes: tillScopes },
  "read-only": { plan: "free", scopes: readScopes },
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
