import type { AuditStore } from "../../../domain/audit/audit.ts";
import type { KeyStore, SessionStore } from "../../../domain/keys/store.ts";
import type { UsageStore } from "../../../domain/usage/usage.ts";
import type { UsageHistoryStore } from "../../../domain/usage/usage-history.ts";
import { createAuditReader } from "../audit.ts";
import { createKeyReader } from "../keys.ts";
import { createSessionReader } from "../sessions.ts";
import { createUsageReader } from "../usage.ts";
import { createUsageHistoryReader } from "../usage-history.ts";
import { type Parts, readable, write } from "./parts.ts";

/** The ports of keys, and of what keys did: each reads on this thread and writes through the writer. */

export function createKeyStore(parts: Parts): KeyStore {
  const reader = readable(parts, createKeyReader(parts.database));
  return {
    findSecret: reader.findSecret,
    findKey: async (id) => reader.findKey(id),
    listKeys: async () => reader.listKeys(),
    listSecrets: async () => reader.listSecrets(),
    addKey: write(parts, "addKey"),
    changeKey: write(parts, "changeKey"),
    addSecret: write(parts, "addSecret"),
    revokeKey: write(parts, "revokeKey"),
  };
}

export function createSessionStore(parts: Parts): SessionStore {
  return {
    ...readable(parts, createSessionReader(parts.database)),
    addSession: write(parts, "addSession"),
    removeSession: write(parts, "removeSession"),
  };
}

export function createAuditStore(parts: Parts): AuditStore {
  const { listEntries } = readable(parts, createAuditReader(parts.database));
  return {
    listEntries: async (filter, rowsMax) => listEntries(filter, rowsMax),
    addEntry: write(parts, "addAuditEntry"),
  };
}

export function createUsageStore(parts: Parts): UsageStore {
  const { loadUsage, loadBans } = readable(parts, createUsageReader(parts.database));
  return {
    loadUsage: async () => loadUsage(),
    loadBans: async () => loadBans(parts.options.clock.now()),
    saveUsage: write(parts, "saveUsage"),
    saveBan: write(parts, "saveBan"),
    liftBan: write(parts, "liftBan"),
  };
}

export function createUsageHistoryStore(parts: Parts): UsageHistoryStore {
  const { readCounts } = readable(parts, createUsageHistoryReader(parts.database));
  return {
    readCounts: async (...args) => readCounts(...args),
    addCounts: write(parts, "addCounts"),
    pruneCounts: write(parts, "pruneCounts"),
  };
}
