import type { SessionStore } from "../../domain/keys/store.ts";
import { auditValues } from "../audit-rows.ts";
import { keyColumns, sessionColumns, toFoundSession } from "../rows.ts";
import { addingEntry } from "./audit.ts";
import type { Query } from "./engine/session.ts";
import { waitForDisk } from "./engine/transaction.ts";
import { touchKeysIf } from "./keys.ts";

const findText = `
  SELECT ${keyColumns}, sessions.digest, sessions.secret_digest, sessions.created_at,
    sessions.expires_at, secrets.expires_at
  FROM sessions JOIN secrets ON secrets.digest = sessions.secret_digest
    JOIN keys ON keys.id = secrets.key_id
  WHERE sessions.digest = $1`;

/**
 * Every instance learns that sessions of the key were ended. `announced` comes before the entry of the
 * audit log, because every transaction that locks `store` and `audit_end` locks `store` first. Sign-ins
 * at the same moment do not see each other and may exceed the bound. The next sign-in corrects that.
 */
const addText = `
  WITH expired AS (DELETE FROM sessions WHERE expires_at <= $3::int8),
       ended AS (
         DELETE FROM sessions WHERE digest IN (
           SELECT sessions.digest
           FROM sessions JOIN secrets ON secrets.digest = sessions.secret_digest
           WHERE sessions.expires_at > $3::int8
             AND secrets.key_id = (SELECT key_id FROM secrets WHERE digest = $2)
           ORDER BY sessions.created_at DESC, sessions.digest OFFSET $5::int8)
         RETURNING digest),
       announced AS (
         UPDATE store SET keys_version = keys_version + 1
         WHERE id = 1 AND EXISTS (SELECT FROM ended) RETURNING id),
       counted AS (SELECT count(*) FROM announced),
       ${addingEntry(6, "counted")}
  INSERT INTO sessions (${sessionColumns}) VALUES ($1, $2, $3, $4) RETURNING ${waitForDisk}`;

/** Every instance learns that the session is over, as it learns that a key was revoked. */
const removeText = `
  WITH removed AS (DELETE FROM sessions WHERE digest = $1 RETURNING digest),
       ${addingEntry(2, "removed")}
  ${touchKeysIf("removed")}`;

/** Reads and writes sessions. Each call is one statement and therefore one transaction. */
export function createSessions(quick: Query, patient: Query): SessionStore {
  return {
    async findSession(digest) {
      const [row] = await quick(findText, [digest]);
      return row && toFoundSession(row);
    },
    async addSession({ digest, secretDigest, createdAt, expiresAt }, othersMax, entry) {
      const values = [digest, secretDigest, createdAt, expiresAt, othersMax];
      await patient(addText, [...values, ...auditValues(entry)]);
    },
    removeSession: async (digest, entry) =>
      (await patient(removeText, [digest, ...auditValues(entry)])).length > 0,
  };
}
