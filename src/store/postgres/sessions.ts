import type { SessionStore } from "../../domain/key-store.ts";
import { auditValues } from "../audit-rows.ts";
import { keyColumns, sessionColumns, toFoundSession } from "../rows.ts";
import { addingEntry } from "./audit.ts";
import type { Query } from "./engine/session.ts";
import { waitForDisk } from "./engine/transaction.ts";

const findText = `
  SELECT ${keyColumns}, sessions.digest, sessions.secret_digest, sessions.created_at,
    sessions.expires_at, secrets.expires_at
  FROM sessions JOIN secrets ON secrets.digest = sessions.secret_digest
    JOIN keys ON keys.id = secrets.key_id
  WHERE sessions.digest = $1`;

const addText = `
  WITH expired AS (DELETE FROM sessions WHERE expires_at <= $3::int8),
       ${addingEntry(5)}
  INSERT INTO sessions (${sessionColumns}) VALUES ($1, $2, $3, $4) RETURNING ${waitForDisk}`;

/** Every instance learns that the session is over, as it learns that a key was revoked. */
const removeText = `
  WITH removed AS (DELETE FROM sessions WHERE digest = $1 RETURNING digest),
       ${addingEntry(2, "removed")}
  UPDATE store SET keys_version = keys_version + 1 FROM removed WHERE store.id = 1
  RETURNING ${waitForDisk}`;

/** Reads and writes sessions. Each call is one statement and therefore one transaction. */
export function createSessions(quick: Query, long: Query, patient: Query): SessionStore {
  return {
    async findSession(digest) {
      const [row] = await quick(findText, [digest]);
      return row && toFoundSession(row);
    },
    async addSession({ digest, secretDigest, createdAt, expiresAt }, entry) {
      await long(addText, [digest, secretDigest, createdAt, expiresAt, ...auditValues(entry)]);
    },
    removeSession: async (digest, entry) =>
      (await patient(removeText, [digest, ...auditValues(entry)])).length > 0,
  };
}
