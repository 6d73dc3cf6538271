import type { AuditEntry } from "../audit/audit.ts";
import type { Key, Secret, SecretTimes } from "./keys.ts";

export const lastOwner =
  "No other owner's key is valid for as long as this one. To go on, repeat this with 'force'.";

export interface FoundSecret {
  readonly key: Key;
  readonly secret: Secret;
}

/** Writes by people have an entry of the audit log, which is stored in the same transaction. */
export interface KeyStore {
  findSecret(digest: string): FoundSecret | undefined | Promise<FoundSecret | undefined>;
  listKeys(): Promise<readonly Key[]>;
  findKey(id: string): Promise<Key | undefined>;
  /** The secrets of all keys, the oldest of each key first. Expired ones are kept. */
  listSecrets(): Promise<readonly SecretTimes[]>;
  addKey(key: Key, digest: string, entry: AuditEntry): Promise<void>;
  /**
   * Stores the name, plan, limits, scopes and expiry of a key. Returns false, changes nothing and adds
   * no entry, if the key does not have those of `before` any more, or is revoked. With `needsOther`, it
   * throws `lastOwner` unless another owner can sign in now, and for at least as long as this key.
   */
  changeKey(before: Key, after: Key, entry: AuditEntry, needsOther?: boolean): Promise<boolean>;
  /** Adds a secret. The key's other secrets expire at `othersExpireAt` at the latest. */
  addSecret(
    keyId: string,
    digest: string,
    now: number,
    othersExpireAt: number,
    entry: AuditEntry,
  ): Promise<void>;
  /** Changes nothing, and adds no entry, if the key is already revoked. `needsOther` is as for `changeKey`. */
  revokeKey(keyId: string, now: number, entry: AuditEntry, needsOther?: boolean): Promise<void>;
}

export interface Session {
  /** The digest of the token. */
  readonly digest: string;
  /** The digest of the secret that the operator signed in with. */
  readonly secretDigest: string;
  readonly createdAt: number;
  readonly expiresAt: number;
}

export interface FoundSession extends FoundSecret {
  readonly session: Session;
}

export interface SessionStore {
  findSession(digest: string): FoundSession | undefined | Promise<FoundSession | undefined>;
  /**
   * Also deletes the sessions that expired before this one was created, and all others of the key but the
   * newest `othersMax`.
   */
  addSession(session: Session, othersMax: number, entry: AuditEntry): Promise<void>;
  /** Returns false, and adds no entry, if there is no such session. */
  removeSession(digest: string, entry: AuditEntry): Promise<boolean>;
}
