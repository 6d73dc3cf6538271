import type { Key } from "../../domain/keys/keys.ts";
import type { KeyStore } from "../../domain/keys/store.ts";
import { auditValues } from "../audit-rows.ts";
import { keyColumns, secretTimesColumns, toKey, toNumber, toSecretTimes } from "../rows.ts";
import { addingEntry } from "./audit.ts";
import type { Query } from "./engine/session.ts";
import { waitForDisk } from "./engine/transaction.ts";

/** Announces a change to keys or bans to every instance. */
export const touchKeys = `UPDATE store SET keys_version = keys_version + 1 WHERE id = 1
  RETURNING ${waitForDisk}`;

/** The same, but only if this part of the statement returns a row. */
export const touchKeysIf = (part: string) =>
  `UPDATE store SET keys_version = keys_version + 1 FROM ${part} WHERE store.id = 1
  RETURNING ${waitForDisk}`;

const findSecret = `SELECT ${keyColumns}, secrets.expires_at
  FROM secrets JOIN keys ON keys.id = secrets.key_id WHERE secrets.digest = $1`;

const addKey = `
  WITH added AS (INSERT INTO keys (id, name, plan, per_minute, per_day, scopes, created_at,
                                   expires_at, revoked_at)
                 VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)),
       opened AS (INSERT INTO secrets (digest, key_id, created_at) VALUES ($10, $1, $7)),
       ${addingEntry(11)}
  ${touchKeys}`;

const changeKey = `
  WITH changed AS (UPDATE keys SET name = $2, plan = $3, per_minute = $4::int8, per_day = $5::int8,
                     scopes = $6, expires_at = $7::int8
                   WHERE id = $1 AND revoked_at IS NULL AND name = $8 AND plan = $9
                     AND per_minute = $10::int8 AND per_day = $11::int8 AND scopes = $12
                     AND expires_at IS NOT DISTINCT FROM $13::int8
                   RETURNING id),
       ${addingEntry(14, "changed")}
  ${touchKeysIf("changed")}`;

const addSecret = `
  WITH ended AS (UPDATE secrets SET expires_at = least(expires_at, $4::int8) WHERE key_id = $1),
       opened AS (INSERT INTO secrets (digest, key_id, created_at) VALUES ($2, $1, $3)),
       ${addingEntry(5)}
  ${touchKeys}`;

const revokeKey = `
  WITH ended AS (UPDATE keys SET revoked_at = $2::int8 WHERE id = $1 AND revoked_at IS NULL
                 RETURNING id),
       ${addingEntry(3, "ended")}
  ${touchKeys}`;

/**
 * Reads and writes keys. Each call is one statement and therefore one transaction. Requests wait for
 * `quick`; lists are read by `long`. An import can block a change, for which `patient` waits.
 */
export function createKeys(quick: Query, long: Query, patient: Query): KeyStore {
  return {
    async findSecret(digest) {
      const [row] = await quick(findSecret, [digest]);
      return row && { key: toKey(row), secret: { digest, expiresAt: toNumber(row[9]) } };
    },
    async findKey(id) {
      const [row] = await long(`SELECT ${keyColumns} FROM keys WHERE id = $1`, [id]);
      return row && toKey(row);
    },
    async listKeys() {
      const text = `SELECT ${keyColumns} FROM keys ORDER BY created_at, id`;
      return (await long(text)).map(toKey);
    },
    async listSecrets() {
      const text = `SELECT ${secretTimesColumns} FROM secrets ORDER BY key_id, created_at, digest`;
      return (await long(text)).map(toSecretTimes);
    },
    async addKey(key, digest, entry) {
      const times = [key.createdAt, key.expiresAt, key.revokedAt];
      await patient(addKey, [...termsOf(key), ...times, digest, ...auditValues(entry)]);
    },
    async changeKey(before, after, entry) {
      const [, ...known] = [...termsOf(before), before.expiresAt];
      const values = [...termsOf(after), after.expiresAt, ...known, ...auditValues(entry)];
      return (await patient(changeKey, values)).length > 0;
    },
    async addSecret(keyId, digest, now, othersExpireAt, entry) {
      await patient(addSecret, [keyId, digest, now, othersExpireAt, ...auditValues(entry)]);
    },
    async revokeKey(keyId, now, entry) {
      await patient(revokeKey, [keyId, now, ...auditValues(entry)]);
    },
  };
}

function termsOf({ id, name, plan, limits, scopes }: Key) {
  return [id, name, plan, limits.perMinute, limits.perDay, scopes.join(" ")];
}
