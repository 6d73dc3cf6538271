// The shapes of keys in the operator API.

export type KeyKind = "api" | "operator";
export type KeyState = "active" | "banned" | "expired" | "revoked";

/** Requests in the current minute or day. */
export interface LimitWindow {
  readonly used: number;
  readonly limit: number;
  readonly resetsAt: string;
}

export interface SecretTimes {
  readonly createdAt: string;
  readonly expiresAt: string | null;
}

export interface Key {
  readonly id: string;
  readonly name: string;
  readonly kind: KeyKind;
  /** Null for an operator key. */
  readonly plan: string | null;
  readonly limits: { readonly perMinute: number; readonly perDay: number };
  readonly scopes: readonly string[];
  readonly state: KeyState;
  readonly createdAt: string;
  readonly expiresAt: string | null;
  readonly revokedAt: string | null;
  readonly lastUsedAt: string | null;
  readonly bannedUntil: string | null;
  readonly minute: LimitWindow;
  readonly day: LimitWindow;
  /** The texts of the key that work now: two during a rotation. */
  readonly secrets: readonly SecretTimes[];
}

/** A new or rotated key. `key` is the text, which the service returns only once. */
export interface IssuedKey extends Key {
  readonly key: string;
}

export interface Usage {
  readonly step: "minute" | "day";
  /** The time of the first point. The last point is the current minute or day. */
  readonly from: string;
  readonly admitted: readonly number[];
  readonly refused: readonly number[];
}
