import type { Database } from "bun:sqlite";
import type { AuditEntry } from "../../domain/audit/audit.ts";
import type { FoundSession, Session } from "../../domain/keys/store.ts";
import { keyColumns, sessionColumns, toFoundSession } from "../rows.ts";
import { placeholders } from "../tables.ts";
import { createEntryInserter } from "./audit.ts";
import { inTransaction } from "./engine/connection.ts";
import { touchKeys } from "./keys.ts";

/** Reads sessions. */
export function createSessionReader(database: Database) {
  const find = database.query(
    `SELECT ${keyColumns}, sessions.digest, sessions.secret_digest, sessions.created_at,
       sessions.expires_at, secrets.expires_at AS ends
     FROM sessions JOIN secrets ON secrets.digest = sessions.secret_digest
       JOIN keys ON keys.id = secrets.key_id
     WHERE sessions.digest = ?`,
  );
  return {
    findSession(digest: string): FoundSession | undefined {
      const row = find.values(digest)[0];
      return row && toFoundSession(row);
    },
  };
}

/** Writes sessions. Each call is one transaction. */
export function createSessionWriter(database: Database) {
  const touch = database.query(touchKeys);
  const note = createEntryInserter(database);
  const insert = database.query(
    `INSERT INTO sessions (${sessionColumns}) VALUES (${placeholders(sessionColumns)})`,
  );
  const removeExpired = database.query("DELETE FROM sessions WHERE expires_at <= ?");
  const removeOldest = database.query(
    `DELETE FROM sessions WHERE digest IN (
       SELECT sessions.digest FROM sessions JOIN secrets ON secrets.digest = sessions.secret_digest
       WHERE secrets.key_id = (SELECT key_id FROM secrets WHERE digest = ?)
       ORDER BY sessions.created_at DESC, sessions.digest LIMIT -1 OFFSET ?)`,
  );
  const remove = database.query("DELETE FROM sessions WHERE digest = ?");
  return {
    addSession: inTransaction(
      database,
      (session: Session, othersMax: number, entry: AuditEntry) => {
        const { digest, secretDigest, createdAt, expiresAt } = session;
        removeExpired.run(createdAt);
        if (removeOldest.run(secretDigest, othersMax).changes > 0) touch.run();
        insert.run(digest, secretDigest, createdAt, expiresAt);
        note(entry);
      },
    ),
    removeSession: inTransaction(database, (digest: string, entry: AuditEntry): boolean => {
      const isRemoved = remove.run(digest).changes > 0;
      if (isRemoved) {
        note(entry);
        touch.run();
      }
      return isRemoved;
    }),
  };
}
