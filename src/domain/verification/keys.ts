import { allKeys, type Step, startOf, steps, withoutKey } from "../usage/usage-history.ts";
import { checkRows, type Note } from "./columns.ts";
import { type Faults, shown } from "./faults.ts";
import type { RowsOf } from "./store.ts";

type KeyIds = ReadonlySet<unknown>;

/**
 * Checks that each key has a secret, and that every secret, usage record and ban belongs to a key.
 * Returns the ids of all keys.
 */
export async function checkKeys(rowsOf: RowsOf, faults: Faults): Promise<KeyIds> {
  const ids = new Set<unknown>();
  await checkRows(rowsOf, "keys", faults, ([id]) => ids.add(id));
  const keysWithSecret = new Set<unknown>();
  await checkRows(rowsOf, "secrets", faults, ([, keyId], note) => {
    checkKey(keyId, ids, note);
    keysWithSecret.add(keyId);
  });
  for (const id of ids) {
    if (!keysWithSecret.has(id)) faults.note(`key ${id}`, "has no secret", "at least one");
  }
  for (const table of ["usage", "bans"] as const) {
    await checkRows(rowsOf, table, faults, ([keyId], note) => checkKey(keyId, ids, note));
  }
  return ids;
}

export function checkKey(id: unknown, ids: KeyIds, note: Note): void {
  if (!ids.has(id)) note(`there is no key ${shown(id)}`, "the id of a key");
}

/** Checks that every count belongs to a key, and starts where its minute or day does. */
export async function checkUsageHistory(
  rowsOf: RowsOf,
  keyIds: KeyIds,
  faults: Faults,
): Promise<void> {
  const known = new Set([...keyIds, allKeys, withoutKey]);
  await checkRows(rowsOf, "usage_points", faults, (row, note) => {
    checkKey(row[0], known, note);
    const [step, start] = [row[1] as Step, Number(row[2])];
    if (!steps.includes(step)) return;
    const expected = startOf(step, start);
    if (start !== expected) note(`start is ${start}`, `${expected}`);
  });
}

/**
 * Checks that no row of the audit log is missing and that its times never decrease. A key that made a
 * change is never deleted.
 */
export async function checkAudit(rowsOf: RowsOf, keyIds: KeyIds, faults: Faults): Promise<void> {
  let last = 0;
  let lastAt = 0;
  await checkRows(rowsOf, "audit", faults, (row, note) => {
    const [seq, at] = [Number(row[0]), Number(row[1])];
    if (seq !== last + 1) note(`follows row ${last}`, `row ${last + 1}`);
    if (at < lastAt) note(`at is ${at}`, `${lastAt} or later, as in row ${last}`);
    [last, lastAt] = [seq, at];
    if (row[2] !== null) checkKey(row[2], keyIds, note);
  });
}
