/** How many requests a key may send. */
export interface Limits {
  readonly perMinute: number;
  readonly perDay: number;
}

/** The largest limit that can be set for a key. */
export const limitMax = 999_999_999_999;

/** The plans. Null: the limits are set per key. Help texts and documents list this table. */
export const plans = {
  free: { perMinute: 60, perDay: 1_000 },
  pro: { perMinute: 300, perDay: 10_000 },
  business: { perMinute: 1_000, perDay: 100_000 },
  enterprise: null,
} as const satisfies Record<string, Limits | null>;

export type Plan = keyof typeof plans;

export const planNames = Object.keys(plans) as readonly Plan[];

export function isPlan(value: string): value is Plan {
  return Object.hasOwn(plans, value);
}
