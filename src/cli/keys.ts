import { Refusal } from "../domain/errors.ts";
import { digestOf, generateKeyId, generateKeyText, type Key } from "../domain/keys.ts";
import type { Ban, SavedUsage, Store } from "../domain/ports.ts";
import { print } from "../output.ts";
import { limitsFor, readDuration, readInstant, readName, readPlan, readScopes } from "./flags.ts";
import { withStore } from "./with-store.ts";

const json = { json: { type: "boolean" } } as const;

export function createKey(words: string[]): Promise<number> {
  const options = {
    ...json,
    name: { type: "string" },
    plan: { type: "string" },
    "per-minute": { type: "string" },
    "per-day": { type: "string" },
    scopes: { type: "string" },
    expires: { type: "string" },
  } as const;
  return withStore(words, options, [], async ({ config, flags, store }) => {
    const now = Date.now();
    const plan = readPlan(flags.plan);
    const key: Key = {
      id: generateKeyId(),
      name: readName(flags.name),
      plan,
      limits: limitsFor(plan, flags["per-minute"], flags["per-day"]),
      scopes: readScopes(flags.scopes),
      createdAt: now,
      expiresAt: readInstant("--expires", flags.expires, now),
      revokedAt: null,
    };
    const text = generateKeyText(config.environment);
    await store.keys.addKey(key, digestOf(text));
    if (flags.json) print(JSON.stringify({ ...describe(key), key: text }));
    else printOnce(key, text);
    return 0;
  });
}

export function rotateKey(words: string[]): Promise<number> {
  const options = { ...json, overlap: { type: "string" } } as const;
  return withStore(words, options, ["ID"], async ({ config, flags, rest, store }) => {
    const key = await getKey(store, rest[0]!);
    if (key.revokedAt !== null) {
      throw new Refusal("invalid_request", `key ${key.id} is revoked; create a new one`);
    }
    const now = Date.now();
    const oldUntil = now + readDuration("--overlap", flags.overlap ?? "24h");
    const text = generateKeyText(config.environment);
    await store.keys.addSecret(key.id, digestOf(text), now, oldUntil);
    const oldValidUntil = new Date(oldUntil).toISOString();
    if (flags.json) {
      print(JSON.stringify({ ...describe(key), key: text, oldValidUntil }));
    } else {
      printOnce(key, text);
      print(`The old key works until ${oldValidUntil}.`);
    }
    return 0;
  });
}

export function revokeKey(words: string[]): Promise<number> {
  return withStore(words, json, ["ID"], async ({ flags, rest, store }) => {
    const key = await getKey(store, rest[0]!);
    await store.keys.revokeKey(key.id, Date.now());
    if (flags.json) print(JSON.stringify(describe(await getKey(store, key.id))));
    else print(`Key ${key.id} (${key.name}) is revoked.`);
    return 0;
  });
}

export function liftBan(words: string[]): Promise<number> {
  return withStore(words, json, ["ID"], async ({ flags, rest, store }) => {
    const key = await getKey(store, rest[0]!);
    const lifted = await store.usage.liftBan(key.id, Date.now());
    if (flags.json) print(JSON.stringify({ id: key.id, lifted }));
    else print(lifted ? `Key ${key.id} is no longer banned.` : `Key ${key.id} was not banned.`);
    return 0;
  });
}

export function showKey(words: string[]): Promise<number> {
  return withStore(words, json, ["ID"], async ({ flags, rest, store }) => {
    const key = await getKey(store, rest[0]!);
    const { usage, bans } = await bookkeeping(store);
    const shown = describe(key, usage.get(key.id), bans.get(key.id));
    if (flags.json) print(JSON.stringify(shown));
    else
      for (const [name, value] of Object.entries(shown))
        print(`${name.padEnd(14)} ${inWords(value)}`);
    return 0;
  });
}

export function listKeys(words: string[]): Promise<number> {
  return withStore(words, json, [], async ({ flags, store }) => {
    const { usage, bans } = await bookkeeping(store);
    const keys = await store.keys.listKeys();
    const shown = keys.map((key) => describe(key, usage.get(key.id), bans.get(key.id)));
    if (flags.json) {
      print(JSON.stringify(shown));
      return 0;
    }
    for (const key of shown) {
      const state = key.revokedAt ? "revoked" : key.bannedUntil ? "banned" : "";
      print([key.id, key.plan.padEnd(10), key.createdAt, key.name, state].join("  ").trimEnd());
    }
    if (shown.length === 0) print("There are no keys yet; make one with petstore keys create.");
    return 0;
  });
}

async function getKey(store: Store, id: string): Promise<Key> {
  const key = await store.keys.findKey(id);
  if (!key) throw new Refusal("not_found", `there is no key ${id}`);
  return key;
}

async function bookkeeping(store: Store) {
  const usage = new Map((await store.usage.loadUsage()).map((row) => [row.keyId, row]));
  const bans = new Map((await store.usage.loadBans()).map((ban) => [ban.keyId, ban]));
  return { usage, bans };
}

function describe(key: Key, usage?: SavedUsage, ban?: Ban) {
  const banned = ban && ban.liftedAt === null && ban.until > Date.now();
  return {
    id: key.id,
    name: key.name,
    plan: key.plan,
    perMinute: key.limits.perMinute,
    perDay: key.limits.perDay,
    scopes: key.scopes,
    createdAt: isoOrNull(key.createdAt),
    expiresAt: isoOrNull(key.expiresAt),
    revokedAt: isoOrNull(key.revokedAt),
    lastUsedAt: isoOrNull(usage?.lastUsedAt || null),
    bannedUntil: isoOrNull(banned ? ban.until : null),
  };
}

function printOnce(key: Key, text: string): void {
  print(`Key ${key.id} (${key.name}, ${key.plan}). It is shown only this once:`);
  print(text);
}

function inWords(value: unknown): string {
  if (value === null) return "-";
  return Array.isArray(value) ? value.join(", ") : String(value);
}

function isoOrNull(time: number | null): string | null {
  return time === null ? null : new Date(time).toISOString();
}
