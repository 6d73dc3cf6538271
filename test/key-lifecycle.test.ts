import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readConfig } from "../src/config.ts";
import { byCommand } from "../src/domain/audit/audit.ts";
import { digestOf } from "../src/domain/keys/keyring.ts";
import { callerOf, defaultScopes, isKeyText } from "../src/domain/keys/keys.ts";
import {
  defaultOverlapMs,
  getKeyStatus,
  issueKey,
  liftBan,
  listKeyStatuses,
  revokeKey,
  rotateKey,
} from "../src/domain/keys/lifecycle.ts";
import type { KeyTerms } from "../src/domain/keys/terms.ts";
import { newUsage } from "../src/domain/limits/limits.ts";
import { InvalidField, ServiceError } from "../src/domain/running/errors.ts";
import type { Store } from "../src/domain/store.ts";
import { openOrCreateStore } from "../src/opening/stores.ts";
import { createTestClock } from "./support/clock.ts";

const folder = mkdtempSync(join(tmpdir(), "petstore-keys-"));
const clock = createTestClock();
let store: Store;
beforeAll(async () => {
  store = await openOrCreateStore(
    readConfig({ database: `sqlite:${join(folder, "keys.db")}` }, {}),
    clock,
  );
});
afterAll(async () => {
  await store.close();
  rmSync(folder, { recursive: true });
});

const issue = (terms: Partial<KeyTerms> = {}) =>
  issueKey(store, "production", { name: "till", plan: "free", ...terms }, byCommand(clock.now()));

/** Whether the store accepts a secret at this time. */
async function isValid(text: string, now = clock.now()): Promise<boolean> {
  const found = await store.keys.findSecret(digestOf(text));
  return found !== undefined && callerOf(found.key, found.secret, now) !== undefined;
}

describe("a new key", () => {
  test("is stored with its terms, and only its secret is accepted", async () => {
    const expiresAt = clock.now() + 1;
    const { key, text } = await issue({
      name: " till ",
      plan: "enterprise",
      perMinute: 7,
      perDay: 999_999_999_999,
      scopes: ["orders:read", "pets:read", "orders:read"],
      expiresAt,
    });
    expect(await store.keys.findKey(key.id)).toEqual({
      id: key.id,
      name: "till",
      plan: "enterprise",
      limits: { perMinute: 7, perDay: 999_999_999_999 },
      scopes: ["pets:read", "orders:read"],
      createdAt: clock.now(),
      expiresAt,
      revokedAt: null,
    });
    expect(isKeyText(text, "production")).toBe(true);
    expect(await isValid(text)).toBe(true);
    expect(await isValid(text, expiresAt)).toBe(false);
  });

  test("has the default scopes if none are given", async () => {
    const { key } = await issue();
    expect((await store.keys.findKey(key.id))?.scopes).toEqual(defaultScopes);
  });

  const broken: [terms: Partial<KeyTerms>, field: string][] = [
    [{ name: " " }, "name"],
    [{ name: "x".repeat(201) }, "name"],
    [{ name: "a\nb" }, "name"],
    [{ plan: "gold" }, "plan"],
    [{ plan: "toString" }, "plan"],
    [{ perMinute: 5 }, "perMinute"],
    [{ perDay: 5 }, "perDay"],
    [{ plan: "enterprise", perMinute: 5 }, "perDay"],
    [{ plan: "enterprise", perMinute: 0, perDay: 5 }, "perMinute"],
    [{ plan: "enterprise", perMinute: 1.5, perDay: 5 }, "perMinute"],
    [{ plan: "enterprise", perMinute: Number.NaN, perDay: 5 }, "perMinute"],
    [{ plan: "enterprise", perMinute: 5, perDay: 1e12 }, "perDay"],
    [{ scopes: [] }, "scopes"],
    [{ scopes: ["pets:read", "all"] }, "scopes"],
    [{ expiresAt: Number.NaN }, "expiresAt"],
    [{ expiresAt: 0 }, "expiresAt"],
  ];
  for (const [terms, field] of broken) {
    test(`is rejected with the name of the field: ${JSON.stringify(terms)}`, async () => {
      const before = await store.keys.listKeys();
      const error = await issue(terms).catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(InvalidField);
      const { code, message, rule } = error as InvalidField;
      expect({ code, message }).toEqual({
        code: "invalid_request",
        message: `Field '${field}' ${rule}.`,
      });
      expect(await store.keys.listKeys()).toEqual(before);
    });
  }

  test("cannot expire at the time at which it is issued", async () => {
    expect(issue({ expiresAt: clock.now() })).rejects.toBeInstanceOf(InvalidField);
  });
});

test("a scope that is added to the list of scopes is not added to the default scopes", async () => {
  const source = readFileSync(new URL("../src/domain/keys/keys.ts", import.meta.url), "utf8");
  const domain = new URL("../src/domain/", import.meta.url).pathname;
  const extended = source
    .replace(/(export const scopes = \[)/, '$1"admin:write", ')
    .replaceAll('from "./', `from "${domain}keys/`)
    .replaceAll('from "../', `from "${domain}`);
  const file = join(folder, "keys-with-one-more-scope.ts");
  writeFileSync(file, extended);
  const changed = (await import(file)) as typeof import("../src/domain/keys/keys.ts");
  expect(changed.scopes as readonly string[]).toContain("admin:write");
  expect(changed.defaultScopes).toEqual(defaultScopes);
});

describe("a rotated key", () => {
  test("has a new secret, and the old one expires after the overlap", async () => {
    const { key, text } = await issue();
    const rotated = await rotateKey(store, "production", key.id, byCommand(clock.now()));
    expect(rotated.oldValidUntil).toBe(clock.now() + defaultOverlapMs);
    expect(await isValid(text, rotated.oldValidUntil - 1)).toBe(true);
    expect(await isValid(text, rotated.oldValidUntil)).toBe(false);
    expect(await isValid(rotated.text, rotated.oldValidUntil)).toBe(true);
    const again = await rotateKey(store, "production", key.id, byCommand(clock.now()), 0);
    expect(await isValid(rotated.text)).toBe(false);
    expect(await isValid(again.text)).toBe(true);
  });

  test("keeps its secret if the overlap is invalid", async () => {
    const { key, text } = await issue();
    for (const overlapMs of [-1, Number.NaN]) {
      const rotating = rotateKey(store, "production", key.id, byCommand(clock.now()), overlapMs);
      expect(rotating).rejects.toBeInstanceOf(InvalidField);
    }
    expect(await isValid(text, Number.MAX_SAFE_INTEGER)).toBe(true);
  });
});

test("a revoked key stays revoked and cannot be rotated", async () => {
  const { key, text } = await issue();
  const revoked = await revokeKey(store, key.id, byCommand(clock.now()));
  expect(revoked.revokedAt).toBe(clock.now());
  expect(await isValid(text)).toBe(false);
  expect(await revokeKey(store, key.id, byCommand(clock.now() + 1))).toEqual(revoked);
  expect(rotateKey(store, "production", key.id, byCommand(clock.now()))).rejects.toThrow(
    `Key ${key.id} is revoked; issue a new one.`,
  );
});

test("a key's status has its last use, the counts of this minute and today, and the ban that is in force", async () => {
  const now = clock.now();
  const { key } = await issue();
  const status = () => getKeyStatus(store, now, key.id);
  const secrets = [{ keyId: key.id, createdAt: key.createdAt, expiresAt: null }];
  const unused = { lastUsedAt: null, usedThisMinute: 0, usedToday: 0, bannedUntil: null } as const;
  expect(await status()).toEqual({ key, state: "active", ...unused, secrets });
  const dayStart = now - (now % 86_400_000);
  const minuteStart = now - (now % 60_000);
  const windows = { minuteStart, minuteCount: 3, dayStart, dayCount: 12 };
  await store.usage.saveUsage([{ keyId: key.id, ...windows, lastUsedAt: now - 1 }]);
  await store.usage.saveBan({ keyId: key.id, startedAt: now - 9, until: now + 9, liftedAt: null });
  const used = { lastUsedAt: now - 1, usedThisMinute: 3, usedToday: 12, bannedUntil: now + 9 };
  const banned = { key, state: "banned", ...used, secrets } as const;
  expect(await status()).toEqual(banned);
  expect(await listKeyStatuses(store, now)).toContainEqual(banned);
  const newer = { ...newUsage(), minuteStart, minuteCount: 5, dayStart, dayCount: 11 };
  const known = await getKeyStatus(store, now, key.id, () => newer);
  expect(known).toMatchObject({ lastUsedAt: now - 1, usedThisMinute: 5, usedToday: 12 });
  expect((await getKeyStatus(store, now + 9, key.id)).bannedUntil).toBeNull();
  const endKnownTo = async (banStartedAt: number) => {
    const usage = { ...newUsage(), banStartedAt, bannedUntil: now + 99 };
    return (await getKeyStatus(store, now, key.id, () => usage)).bannedUntil;
  };
  expect([await endKnownTo(now - 9), await endKnownTo(now - 8)]).toEqual([now + 9, now + 99]);
  const tomorrow = await getKeyStatus(store, dayStart + 86_400_000, key.id);
  expect(tomorrow).toMatchObject({ state: "active", usedThisMinute: 0, usedToday: 0 });
  expect(await liftBan(store, key.id, byCommand(now))).toBe(true);
  expect((await status()).bannedUntil).toBeNull();
  expect(await liftBan(store, key.id, byCommand(now))).toBe(false);
});

test("a key's status has its state, and the secrets that can still be used", async () => {
  const now = clock.now();
  const { key } = await issue({ expiresAt: now + 500 });
  await rotateKey(store, "production", key.id, byCommand(now + 1), 100);
  const at = async (later: number) => {
    const { state, secrets } = await getKeyStatus(store, now + later, key.id);
    return [state, secrets.map(({ expiresAt }) => expiresAt)];
  };
  expect(await at(2)).toEqual(["active", [now + 101, null]]);
  expect(await at(101)).toEqual(["active", [null]]);
  expect(await at(500)).toEqual(["expired", []]);
  await revokeKey(store, key.id, byCommand(now + 2));
  expect(await at(3)).toEqual(["revoked", []]);
});

test("an id without a key is not found", async () => {
  const now = clock.now();
  for (const work of [
    () => rotateKey(store, "production", "key_none", byCommand(now)),
    () => revokeKey(store, "key_none", byCommand(now)),
    () => liftBan(store, "key_none", byCommand(now)),
    () => getKeyStatus(store, now, "key_none"),
  ]) {
    const error = await work().catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(ServiceError);
    expect(error).toMatchObject({ code: "not_found", message: "There is no key key_none." });
  }
});
