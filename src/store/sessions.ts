import type { FoundSession, SessionStore } from "../domain/keys/store.ts";
import { announce, note } from "./audit.ts";
import { keyColumns, type Row, toKey, toNumber } from "./rows.ts";
import { type Dialect, ifChanged, readFirst, run, type ScriptsOf } from "./statements.ts";

/** The columns of the key, those of the session, and the end of the secret that opened it. */
function toFoundSession(row: Row): FoundSession {
  const [digest, secretDigest] = [row[9] as string, row[10] as string];
  return {
    key: toKey(row),
    session: { digest, secretDigest, createdAt: Number(row[11]), expiresAt: Number(row[12]) },
    secret: { digest: secretDigest, expiresAt: toNumber(row[13]) },
  };
}

export const sessionReads: ScriptsOf<SessionStore, "findSession"> = {
  findSession: (digest) =>
    readFirst(
      toFoundSession,
      `SELECT ${keyColumns}, sessions.digest, sessions.secret_digest, sessions.created_at,
         sessions.expires_at, secrets.expires_at AS ends
       FROM sessions JOIN secrets ON secrets.digest = sessions.secret_digest
         JOIN keys ON keys.id = secrets.key_id
       WHERE sessions.digest = $1`,
      [digest],
    ),
};

/** The sessions of the key of a secret, the newest first. */
const ofSameKey = `SELECT sessions.digest
  FROM sessions JOIN secrets ON secrets.digest = sessions.secret_digest
  WHERE secrets.key_id = (SELECT key_id FROM secrets WHERE digest = $1)
  ORDER BY sessions.created_at DESC, sessions.digest`;
const insertSession = `INSERT INTO sessions (digest, secret_digest, created_at, expires_at)
  VALUES ($1, $2, $3, $4)`;
const removeOne = "DELETE FROM sessions WHERE digest = $1 RETURNING digest";

/** Each is one transaction. Every service learns of a session that ends, as of a key that is revoked. */
export const sessionWrites = (
  dialect: Dialect,
): ScriptsOf<SessionStore, "addSession" | "removeSession"> => ({
  /**
   * On PostgreSQL, sign-ins at the same moment do not see each other and may exceed the bound. The next
   * sign-in corrects that.
   */
  *addSession({ digest, secretDigest, createdAt, expiresAt }, othersMax, entry) {
    yield* run("DELETE FROM sessions WHERE expires_at <= $1::int8", [createdAt]);
    const others = yield* run(ofSameKey, [secretDigest]);
    const ended = others.slice(othersMax);
    for (const [other] of ended) yield* run(removeOne, [other as string]);
    yield* run(insertSession, [digest, secretDigest, createdAt, expiresAt]);
    yield* ended.length > 0 ? announce(dialect, entry) : note(dialect, entry);
  },
  removeSession: (digest, entry) => ifChanged(run(removeOne, [digest]), announce(dialect, entry)),
});
