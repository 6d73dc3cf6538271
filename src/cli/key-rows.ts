import { keyJson } from "../domain/keys/key-json.ts";
import { type Key, roleOf } from "../domain/keys/keys.ts";
import type { KeyStatus } from "../domain/keys/lifecycle.ts";
import { inOrder } from "../domain/values/json.ts";
import type { Column } from "./table.ts";

export const listColumns: readonly Column<KeyStatus>[] = [
  { title: "ID", align: "left", cell: ({ key }) => key.id },
  { title: "NAME", align: "left", cell: ({ key }) => key.name },
  { title: "PLAN", align: "left", cell: ({ key }) => planOf(key) },
  { title: "STATE", align: "left", cell: stateText },
  { title: "LAST USED", align: "left", cell: ({ lastUsedAt }) => timeText(lastUsedAt) },
  { title: "TODAY", align: "right", cell: todayText },
  { title: "SECRETS", align: "left", cell: secretsText },
];

const names = [
  ...(["id", "name", "plan", "role", "state", "perMinute", "perDay", "scopes"] as const),
  ...(["createdAt", "expiresAt", "revokedAt", "lastUsedAt", "usedToday"] as const),
  ...(["bannedUntil", "secrets"] as const),
];

/** The fields that are printed as JSON, in their order. */
export function describe(status: Parameters<typeof keyJson>[0]) {
  return inOrder(keyJson(status), names);
}

/** The same fields as texts, for people. */
export function fieldsOf(status: KeyStatus): readonly (readonly [name: string, text: string])[] {
  const texts: Record<string, string> = {
    state: stateText(status),
    scopes: status.key.scopes.join(", "),
    usedToday: todayText(status),
    secrets: secretsText(status),
  };
  return Object.entries(describe(status)).map(([name, value]) => [
    name,
    texts[name] ?? String(value ?? "-"),
  ]);
}

/** The plan; of an operator key, also the role: "operator, clerk". */
export function planOf(key: Key): string {
  return [key.plan, roleOf(key)].filter(Boolean).join(", ");
}

function stateText({ state, bannedUntil }: KeyStatus): string {
  return state === "banned" ? `banned until ${timeText(bannedUntil)}` : state;
}

function todayText({ key, usedToday }: KeyStatus): string {
  return `${usedToday} of ${key.limits.perDay}`;
}

/** The number of secrets, and when each expires. */
function secretsText({ key, secrets }: KeyStatus): string {
  const ends = secrets.map((secret) => {
    const end = Math.min(secret.expiresAt ?? Infinity, key.expiresAt ?? Infinity);
    return end === Infinity ? "no expiry" : `until ${timeText(end)}`;
  });
  return ends.length === 0 ? "0" : `${ends.length}: ${ends.join(", ")}`;
}

/** A time to the second. */
function timeText(time: number | null): string {
  return time === null ? "-" : `${new Date(time).toISOString().slice(0, 19)}Z`;
}
