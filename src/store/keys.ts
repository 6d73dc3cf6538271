import { type Key, roleScopes, type SecretTimes } from "../domain/keys/keys.ts";
import { type KeyStore, lastOwner } from "../domain/keys/store.ts";
import { ServiceError } from "../domain/running/errors.ts";
import { announce } from "./audit.ts";
import { keyColumns, type Row, toKey, toNumber } from "./rows.ts";
import {
  type Dialect,
  ifChanged,
  readAll,
  readFirst,
  run,
  type Script,
  type ScriptsOf,
} from "./statements.ts";

function toSecretTimes(row: Row): SecretTimes {
  return { keyId: row[0] as string, createdAt: Number(row[1]), expiresAt: toNumber(row[2]) };
}

export const secretReads: ScriptsOf<KeyStore, "findSecret"> = {
  findSecret: (digest) =>
    readFirst(
      (row) => ({ key: toKey(row), secret: { digest, expiresAt: toNumber(row[9]) } }),
      `SELECT ${keyColumns}, secrets.expires_at AS ends
       FROM secrets JOIN keys ON keys.id = secrets.key_id WHERE secrets.digest = $1`,
      [digest],
    ),
};

export const keyReads: ScriptsOf<KeyStore, "findKey" | "listKeys" | "listSecrets"> = {
  findKey: (id) => readFirst(toKey, `SELECT ${keyColumns} FROM keys WHERE id = $1`, [id]),
  listKeys: () => readAll(toKey, `SELECT ${keyColumns} FROM keys ORDER BY created_at, id`),
  listSecrets: () =>
    readAll(
      toSecretTimes,
      `SELECT key_id, created_at, expires_at FROM secrets ORDER BY key_id, created_at, digest`,
    ),
};

const insertKey = `INSERT INTO keys (id, name, plan, per_minute, per_day, scopes, expires_at,
  created_at, revoked_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`;
const updateKey = `UPDATE keys SET name = $2, plan = $3, per_minute = $4::int8, per_day = $5::int8,
    scopes = $6, expires_at = $7::int8
  WHERE id = $1 AND revoked_at IS NULL AND name = $8 AND plan = $9 AND per_minute = $10::int8
    AND per_day = $11::int8 AND scopes = $12 AND expires_at IS NOT DISTINCT FROM $13::int8
  RETURNING id`;
const insertSecret = "INSERT INTO secrets (digest, key_id, created_at) VALUES ($1, $2, $3)";
const endSecrets = `UPDATE secrets
  SET expires_at = CASE WHEN expires_at < $2::int8 THEN expires_at ELSE $2::int8 END
  WHERE key_id = $1`;
const endKey = `UPDATE keys SET revoked_at = $2::int8 WHERE id = $1 AND revoked_at IS NULL
  RETURNING id`;

const findOther = `SELECT 1 FROM keys JOIN keys AS own ON own.id <> keys.id
  WHERE own.id = $1 AND keys.scopes = $2 AND keys.revoked_at IS NULL
    AND (keys.expires_at IS NULL OR keys.expires_at >= own.expires_at)
    AND NOT EXISTS (SELECT 1 FROM bans
      WHERE key_id = keys.id AND lifted_at IS NULL AND until > $3::int8)`;

/** Throws unless another owner can sign in. Locks first: two owners cannot revoke each other at once. */
function* assertOther({ touchKeys }: Dialect, keyId: string, now: number): Script<void> {
  yield* run(touchKeys);
  const others = yield* run(findOther, [keyId, roleScopes.owner, now]);
  if (others.length === 0) throw new ServiceError("last_owner", lastOwner);
}

/** The values of a key that operators can change. */
function termsOf({ name, plan, limits: { perMinute, perDay }, scopes, expiresAt }: Key) {
  return [name, plan, perMinute, perDay, scopes.join(" "), expiresAt];
}

/** Each is one transaction. */
export const keyWrites = (
  dialect: Dialect,
): ScriptsOf<KeyStore, "addKey" | "changeKey" | "addSecret" | "revokeKey"> => ({
  *addKey(key, digest, entry) {
    yield* run(insertKey, [key.id, ...termsOf(key), key.createdAt, key.revokedAt]);
    yield* run(insertSecret, [digest, key.id, key.createdAt]);
    yield* announce(dialect, entry);
  },
  *changeKey(before, after, entry, needsOther) {
    if (needsOther) yield* assertOther(dialect, after.id, entry.at);
    const values = [after.id, ...termsOf(after), ...termsOf(before)];
    return yield* ifChanged(run(updateKey, values), announce(dialect, entry));
  },
  *addSecret(keyId, digest, now, othersExpireAt, entry) {
    yield* run(endSecrets, [keyId, othersExpireAt]);
    yield* run(insertSecret, [digest, keyId, now]);
    yield* announce(dialect, entry);
  },
  *revokeKey(keyId, now, entry, needsOther) {
    if (needsOther) yield* assertOther(dialect, keyId, now);
    yield* ifChanged(run(endKey, [keyId, now]), announce(dialect, entry));
  },
});
