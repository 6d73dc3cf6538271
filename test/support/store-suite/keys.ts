import { beforeEach, describe, expect, test } from "bun:test";
import { digestOf } from "../../../src/domain/keys/keyring.ts";
import type { Key } from "../../../src/domain/keys/keys.ts";
import { anEntry } from "../audit.ts";
import { testStart } from "../clock.ts";
import { banOf, keyNamed, type StoreSuite } from "./suite.ts";

export function describeKeys(suite: StoreSuite): void {
  describe("keys", () => {
    test("are found by digest and by id as they were added", async () => {
      const key: Key = {
        ...keyNamed("key_a"),
        plan: "enterprise",
        limits: { perMinute: 7, perDay: 999_999_999_999 },
        scopes: ["pets:read"],
        expiresAt: testStart + 5,
      };
      await suite.store.keys.addKey(key, digestOf("digest-a"), anEntry);
      await suite.store.keys.addKey(
        { ...keyNamed("key_b"), createdAt: testStart + 1 },
        digestOf("digest-b"),
        anEntry,
      );
      expect(await suite.store.keys.findKey("key_a")).toEqual(key);
      expect(await suite.store.keys.findSecret(digestOf("digest-a"))).toEqual({
        key,
        secret: { digest: digestOf("digest-a"), expiresAt: null },
      });
      expect((await suite.store.keys.listKeys()).map((one) => one.id)).toEqual(["key_a", "key_b"]);
      expect(await suite.store.keys.findKey("key_c")).toBeUndefined();
      expect(await suite.store.keys.findSecret(digestOf("digest-c"))).toBeUndefined();
    });

    test("that are issued, rotated, unbanned or revoked increase the version", async () => {
      const versions = [(await suite.store.inventory.readHead()).keysVersion];
      const note = async () =>
        void versions.push((await suite.store.inventory.readHead()).keysVersion);
      await suite.store.keys.addKey(keyNamed("key_a"), digestOf("one"), anEntry).then(note);
      await suite.store.keys
        .addSecret("key_a", digestOf("two"), testStart, testStart, anEntry)
        .then(note);
      await suite.store.usage.saveBan(banOf("key_a", testStart, testStart + 9));
      await suite.store.usage.liftBan("key_a", testStart + 1, anEntry).then(note);
      await suite.store.keys.revokeKey("key_a", testStart, anEntry).then(note);
      expect(versions).toEqual([...new Set(versions)].sort((one, next) => one - next));
      expect(versions).toHaveLength(5);
    });

    if (!suite.isWhole) return;

    test("that are rotated have a new secret, and the others expire at the given time at the latest", async () => {
      await suite.store.keys.addKey(keyNamed("key_a"), digestOf("one"), anEntry);
      await suite.store.keys.addSecret(
        "key_a",
        digestOf("two"),
        testStart,
        testStart + 100,
        anEntry,
      );
      await suite.store.keys.addSecret(
        "key_a",
        digestOf("three"),
        testStart,
        testStart + 500,
        anEntry,
      );
      const ends = async (digest: string) =>
        (await suite.store.keys.findSecret(digest))?.secret.expiresAt;
      expect([
        await ends(digestOf("one")),
        await ends(digestOf("two")),
        await ends(digestOf("three")),
      ]).toEqual([testStart + 100, testStart + 500, null]);
      const listed = (await suite.store.keys.listSecrets()).filter(
        ({ keyId }) => keyId === "key_a",
      );
      expect(listed.map(({ expiresAt }) => expiresAt).toSorted()).toEqual(
        [testStart + 100, testStart + 500, null].toSorted(),
      );
      expect(listed[0]).toEqual({
        keyId: "key_a",
        createdAt: testStart,
        expiresAt: expect.any(Number),
      });
    });

    test("that are revoked keep the time of the first revocation", async () => {
      await suite.store.keys.addKey(keyNamed("key_a"), digestOf("one"), anEntry);
      await suite.store.keys.revokeKey("key_a", testStart + 1, anEntry);
      await suite.store.keys.revokeKey("key_a", testStart + 2, anEntry);
      expect((await suite.store.keys.findSecret(digestOf("one")))?.key.revokedAt).toBe(
        testStart + 1,
      );
    });
  });

  describe("usage and bans", () => {
    beforeEach(async () => {
      await suite.store.keys.addKey(keyNamed("key_a"), digestOf("one"), anEntry);
      await suite.store.keys.addKey(keyNamed("key_b"), digestOf("two"), anEntry);
    });

    test("are loaded as they were last saved", async () => {
      const usage = (keyId: string, minuteCount: number) => ({
        keyId,
        minuteStart: testStart,
        minuteCount,
        dayStart: testStart - 43_200_000,
        dayCount: 99_999_999_999,
        lastUsedAt: testStart + minuteCount,
      });
      await suite.store.usage.saveUsage([usage("key_a", 1), usage("key_b", 2)]);
      await suite.store.usage.saveUsage([usage("key_b", 3)]);
      const loaded = await (await suite.place.open()).usage.loadUsage();
      expect(loaded.toSorted((one, next) => (one.keyId < next.keyId ? -1 : 1))).toEqual([
        usage("key_a", 1),
        usage("key_b", 3),
      ]);
    });

    test("the latest ban of each key is loaded, and lifting ends one that is in force", async () => {
      await suite.store.usage.saveBan(banOf("key_a", testStart, testStart + 10));
      await suite.store.usage.saveBan(banOf("key_a", testStart + 20, testStart + 40));
      await suite.store.usage.saveBan(banOf("key_b", testStart, testStart + 10));
      expect(await suite.store.usage.liftBan("key_b", testStart + 10, anEntry)).toBe(false);
      expect(await suite.store.usage.liftBan("key_a", testStart + 30, anEntry)).toBe(true);
      expect(await suite.store.usage.liftBan("key_a", testStart + 31, anEntry)).toBe(false);
      const bans = await (await suite.place.open()).usage.loadBans();
      expect(bans.toSorted((one, next) => (one.keyId < next.keyId ? -1 : 1))).toEqual([
        { ...banOf("key_a", testStart + 20, testStart + 40), liftedAt: testStart + 30 },
        banOf("key_b", testStart, testStart + 10),
      ]);
    });
  });
}
