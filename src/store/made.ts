import type { Once } from "../domain/audit/audit.ts";
import type { MadeStore } from "../domain/audit/made.ts";
import { ServiceError } from "../domain/running/errors.ts";
import { readFirst, run, type Script, type ScriptsOf } from "./statements.ts";

export const madeColumns = "digest, request, id, at";

export const madeReads: ScriptsOf<MadeStore, "findMade"> = {
  findMade: (key) =>
    readFirst(
      ([request, id]) => ({ request: request as string, id: id as string | null }),
      "SELECT request, id FROM made WHERE digest = $1",
      [key],
    ),
};

const insert = `INSERT INTO made (${madeColumns}) VALUES ($1, $2, $3, $4)`;
/** On PostgreSQL, it waits for another transaction that has added the same key. */
const insertOrEnd = `${insert} ON CONFLICT (digest) DO UPDATE SET id = excluded.id
  WHERE made.id IS NULL AND made.request = excluded.request RETURNING digest`;
const release = "DELETE FROM made WHERE digest = $1 AND request = $2 AND id IS NULL";

const keyKnown = "The idempotency key belongs to a request that was received before.";

/**
 * Remembers what a request has made, in the same transaction. Throws if its key is known, and then
 * nothing of the transaction is stored. Call it before `audit_end` is locked, and lock no row after that.
 */
export function* remember(once: Once | undefined, id: string | null, at: number): Script<void> {
  if (!once) return;
  const added = yield* run(insertOrEnd, [once.key, once.request, id, at]);
  if (added.length === 0) throw new ServiceError("idempotency_conflict", keyKnown);
}

/** Each is one transaction. */
export const madeWrites: ScriptsOf<MadeStore, "reserveMade" | "releaseMade"> = {
  *reserveMade({ key, request }, now) {
    const text = `${insert} ON CONFLICT (digest) DO NOTHING RETURNING digest`;
    return (yield* run(text, [key, request, null, now])).length > 0;
  },
  *releaseMade({ key, request }) {
    yield* run(release, [key, request]);
  },
};

/** Apart from the others, because it is tried again if it fails. */
export const madePruning: ScriptsOf<MadeStore, "pruneMade"> = {
  *pruneMade(before, rowsMax) {
    const old = "SELECT digest FROM made WHERE at < $1::int8 ORDER BY at LIMIT $2";
    const text = `DELETE FROM made WHERE digest IN (${old}) RETURNING digest`;
    return (yield* run(text, [before, rowsMax])).length;
  },
};
