import { operatorPlan, roleScopes, scopes } from "../keys/keys.ts";
import { planNames } from "../limits/plans.ts";
import { allKeys, type Step, startOf, withoutKey } from "../usage/usage-history.ts";
import { valueOfJson } from "../values/json.ts";
import { shown } from "./faults.ts";
import { checkRows, type Note, type Tables } from "./rows.ts";

type KeyIds = ReadonlySet<unknown>;

const knownPlans = new Set<unknown>([...planNames, operatorPlan]);
const knownScopes = new Set<string>([...scopes, ...Object.values(roleScopes)]);

/**
 * Checks that each key has a known plan, known scopes and a secret, and that every secret, usage record
 * and ban belongs to a key. Returns the ids of all keys.
 */
export async function checkKeys(tables: Tables): Promise<KeyIds> {
  const ids = new Set<unknown>();
  await checkRows(tables, "keys", ([id, , plan, , , granted], note) => {
    ids.add(id);
    if (!knownPlans.has(plan)) note(`plan is ${shown(plan)}`, `one of ${[...knownPlans]}`);
    const strange = String(granted)
      .split(" ")
      .find((scope) => scope && !knownScopes.has(scope));
    if (strange) note(`has the scope ${shown(strange)}`, `some of ${[...knownScopes]}`);
  });
  const keysWithSecret = new Set<unknown>();
  await checkRows(tables, "secrets", ([, keyId], note) => {
    checkKey(keyId, ids, note);
    keysWithSecret.add(keyId);
  });
  for (const id of ids) {
    if (!keysWithSecret.has(id)) tables.faults.note(`key ${id}`, "has no secret", "at least one");
  }
  for (const table of ["usage", "bans"] as const) {
    await checkRows(tables, table, ([keyId], note) => checkKey(keyId, ids, note));
  }
  return ids;
}

export function checkKey(id: unknown, ids: KeyIds, note: Note): void {
  if (!ids.has(id)) note(`there is no key ${shown(id)}`, "the id of a key");
}

/** Checks that every count belongs to a key, and starts where its minute or day does. */
export async function checkUsageHistory(tables: Tables, keyIds: KeyIds): Promise<void> {
  const known = new Set([...keyIds, allKeys, withoutKey]);
  await checkRows(tables, "usage_points", (row, note) => {
    checkKey(row[0], known, note);
    const [step, start] = [row[1] as Step, Number(row[2])];
    const expected = startOf(step, start);
    if (start !== expected) note(`start is ${start}`, `${expected}`);
  });
}

/**
 * Checks that no row of the audit log is missing, that its times never decrease, and that its details can
 * be read. A key that made a change is never deleted.
 */
export async function checkAudit(tables: Tables, keyIds: KeyIds): Promise<void> {
  let last = 0;
  let lastAt = 0;
  await checkRows(tables, "audit", (row, note) => {
    const [seq, at] = [Number(row[0]), Number(row[1])];
    if (seq !== last + 1) note(`follows row ${last}`, `row ${last + 1}`);
    if (at < lastAt) note(`at is ${at}`, `${lastAt} or later, as in row ${last}`);
    [last, lastAt] = [seq, at];
    if (row[2] !== null) checkKey(row[2], keyIds, note);
    if (valueOfJson(row[6]) === undefined) note(`details are ${shown(row[6])}`, "JSON");
  });
}
