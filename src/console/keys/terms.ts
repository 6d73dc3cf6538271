import { capitalized } from "../texts/capitalized.ts";
// What can be chosen for a key. A test compares these tables with those of the service.

export interface PlanChoice {
  readonly name: string;
  /** Null: the limits are set per key. */
  readonly limits: { readonly perMinute: number; readonly perDay: number } | null;
}

export const planChoices: readonly PlanChoice[] = [
  { name: "free", limits: { perMinute: 60, perDay: 1_000 } },
  { name: "pro", limits: { perMinute: 300, perDay: 10_000 } },
  { name: "business", limits: { perMinute: 1_000, perDay: 100_000 } },
  { name: "enterprise", limits: null },
];

export const scopeChoices: readonly { readonly name: string; readonly meaning: string }[] = [
  { name: "inventory:read", meaning: "Read the inventory" },
  { name: "inventory:write", meaning: "Change quantities" },
  { name: "pets:read", meaning: "Read the details of pets" },
  { name: "orders:read", meaning: "Read orders" },
  { name: "history:read", meaning: "Read the history of changes" },
];

export function hasOwnLimits(plan: string): boolean {
  return planChoices.some(({ name, limits }) => name === plan && limits === null);
}

/** For example "Business". */
export function planTitle(plan: string | null): string {
  return plan === null ? "Operator" : capitalized(plan);
}
