import { describe, expect, test } from "bun:test";
import {
  type AuditAction,
  type AuditEntry,
  auditEntry,
  listAudit,
} from "../../../src/domain/audit/audit.ts";
import { digestOf } from "../../../src/domain/keys/keyring.ts";
import type { Session } from "../../../src/domain/keys/store.ts";
import { verify } from "../../../src/domain/verification/verify.ts";
import { anEntry } from "../audit.ts";
import { testStart } from "../clock.ts";
import { webhookNamed } from "../webhooks.ts";
import { banOf, keyNamed, type StoreSuite } from "./suite.ts";

const operator = { keyId: "key_operator", requestId: "req_1" };

/** An entry that names one key or webhook. */
function entry(action: AuditAction, target: string, details = {}): AuditEntry {
  return auditEntry({ actor: operator, now: testStart + 5 }, action, target, details);
}

export function describeOperators(suite: StoreSuite): void {
  const addKey = (id: string, secret = id) =>
    suite.store.keys.addKey({ ...keyNamed(id), name: `name of ${id}` }, digestOf(secret), anEntry);
  const recorded = async () =>
    (await suite.store.audit.listEntries({}, 100))
      .map(({ action, target }) => `${action} ${target}`)
      .filter((one) => one !== `${anEntry.action} null`)
      .reverse();

  describe("the audit log", () => {
    test("has every change to keys, bans, webhooks and sessions, with who made it", async () => {
      const { keys, usage, webhooks, sessions, audit } = suite.store;
      const key = keyNamed("key_a");
      await addKey("key_operator");
      await keys.addKey(
        key,
        digestOf("one"),
        entry("key.created", "key_a", { plan: key.plan, "ö'": null }),
      );
      await keys.changeKey(key, { ...key, name: "new" }, entry("key.changed", "key_a"));
      const rotated = entry("key.rotated", "key_a");
      await keys.addSecret("key_a", digestOf("two"), testStart, testStart, rotated);
      await usage.saveBan(banOf("key_a", testStart, testStart + 1_000));
      await usage.liftBan("key_a", testStart, entry("ban.lifted", "key_a"));
      await keys.revokeKey("key_a", testStart, entry("key.revoked", "key_a"));
      await webhooks.addWebhook(webhookNamed("wh_a"), entry("webhook.created", "wh_a"));
      await webhooks.changeWebhook("wh_a", 1, { replays: 1 }, entry("webhook.replayed", "wh_a"));
      await webhooks.removeWebhook("wh_a", entry("webhook.removed", "wh_a"));
      await sessions.addSession(sessionOf("token", "two"), 9, entry("session.started", "key_a"));
      await sessions.removeSession(digestOf("token"), entry("session.ended", "key_a"));
      await audit.addEntry(entry("backup.made", "file"));
      expect(await recorded()).toEqual([
        "key.created key_a",
        "key.changed key_a",
        "key.rotated key_a",
        "ban.lifted key_a",
        "key.revoked key_a",
        "webhook.created wh_a",
        "webhook.replayed wh_a",
        "webhook.removed wh_a",
        "session.started key_a",
        "session.ended key_a",
        "backup.made file",
      ]);
      expect((await audit.listEntries({ action: "key.created" }, 9))[0]).toEqual({
        seq: expect.any(Number),
        keyName: "name of key_operator",
        ...entry("key.created", "key_a", { plan: key.plan, "ö'": null }),
      });
      expect((await suite.store.transfer.snapshot(verify)).faults as unknown).toEqual([]);
    });

    test("is copied to another store, which continues its numbers and times", async () => {
      await addKey("key_operator");
      for (let at = 0; at < 3; at++)
        await suite.store.audit.addEntry(entry("key.changed", "key_a"));
      const before = await suite.store.audit.listEntries({}, 9);
      const place = await suite.enterAnother();
      const other = await place.open();
      await suite.store.transfer.snapshot(({ rowsOf }) => other.transfer.importTables(rowsOf));
      expect(await other.audit.listEntries({}, 9)).toEqual(before);
      await other.audit.addEntry({ ...entry("key.revoked", "key_a"), at: 1 });
      const [newest] = await other.audit.listEntries({}, 1);
      expect(newest!.seq).toBe(before[0]!.seq + 1);
      expect(newest!.at).toBe(before[0]!.at);
      await other.close();
      await place.remove();
    });

    if (!suite.isWhole) return;

    test("has no row for a change that was not made", async () => {
      const { keys, usage, webhooks, sessions } = suite.store;
      await addKey("key_a");
      await keys.revokeKey("key_a", testStart, anEntry);
      await keys.revokeKey("key_a", testStart, entry("key.revoked", "key_a"));
      expect(await usage.liftBan("key_a", testStart, entry("ban.lifted", "key_a"))).toBe(false);
      await webhooks.addWebhook(webhookNamed("wh_a"), anEntry);
      const late = entry("webhook.paused", "wh_a");
      expect(await webhooks.changeWebhook("wh_a", 7, { state: "paused" }, late)).toBe(false);
      expect(await webhooks.removeWebhook("wh_b", entry("webhook.removed", "wh_b"))).toBe(false);
      expect(await sessions.removeSession("none", entry("session.ended", "key_a"))).toBe(false);
      const again = keys.addKey(
        keyNamed("key_a"),
        digestOf("three"),
        entry("key.created", "key_a"),
      );
      // While Bun's `rejects` waits, the next reply of the writing thread gets lost.
      expect(
        await again.then(
          () => "stored",
          () => "rejected",
        ),
      ).toBe("rejected");
      expect(await recorded()).toEqual([]);
    });

    test("is read in pages, the newest entry first, by action, key and target", async () => {
      const { audit } = suite.store;
      for (let at = 0; at < 5; at++) await audit.addEntry(entry("key.changed", `key_${at % 2}`));
      await audit.addEntry({ ...entry("key.revoked", "key_0"), keyId: null, requestId: null });
      const first = await audit.listEntries({}, 4);
      const rest = await audit.listEntries({ before: first.at(-1)!.seq }, 4);
      const seqs = [...first, ...rest].map(({ seq }) => seq);
      expect(seqs).toEqual(seqs.toSorted((a, b) => b - a));
      expect(seqs).toHaveLength(6);
      const found = async (filter: Parameters<typeof audit.listEntries>[0]) =>
        (await audit.listEntries(filter, 9)).length;
      expect(await found({ action: "key.changed" })).toBe(5);
      expect(await found({ target: "key_0" })).toBe(4);
      expect(await found({ keyId: "key_operator", target: "key_1" })).toBe(2);
      expect((await audit.listEntries({ action: "key.revoked" }, 9))[0]).toMatchObject({
        keyId: null,
        keyName: null,
      });
    });

    test("is examined in bounded pages if it is filtered, and no row is missed", async () => {
      const { audit } = suite.store;
      await suite.place.execute(`
        WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 20001)
        INSERT INTO audit (seq, at, action, target, details)
        SELECT n, n, 'key.changed', CASE WHEN n % 10000 = 1 THEN 'rare' ELSE 'common' END, '{}'
        FROM numbers`);
      const pages: number[][] = [];
      let before: number | undefined = Number.MAX_SAFE_INTEGER;
      while (before !== undefined) {
        const { rows, next } = await listAudit({ audit }, { target: "rare", before }, 9);
        pages.push(rows.map(({ seq }) => seq));
        before = next;
      }
      expect(pages).toEqual([[20_001], [10_001], [1]]);
      const none = await listAudit({ audit }, { target: "none" }, 9);
      expect(none).toEqual({ rows: [], next: 10_002 });
      const unfiltered = await listAudit({ audit }, { before: 3 }, 2);
      expect(unfiltered.rows.map(({ seq }) => seq)).toEqual([2, 1]);
      expect(unfiltered.next).toBeUndefined();
    });

    test("has times that never decrease, also if the clock was set back", async () => {
      const { audit, keys } = suite.store;
      const at = async () => (await audit.listEntries({}, 1))[0]!.at;
      await audit.addEntry({ ...anEntry, at: testStart });
      await audit.addEntry({ ...anEntry, at: testStart - 1 });
      expect(await at()).toBe(testStart);
      await keys.addKey(keyNamed("key_a"), digestOf("one"), { ...anEntry, at: testStart - 2 });
      expect(await at()).toBe(testStart);
      await audit.addEntry({ ...anEntry, at: testStart + 1 });
      expect(await at()).toBe(testStart + 1);
    });
  });

  describe("a key that is changed", () => {
    test("keeps its id, secrets and times, and is announced", async () => {
      const { keys, inventory } = suite.store;
      await addKey("key_a", "one");
      const before = await inventory.readHead();
      const changed = {
        ...keyNamed("key_a"),
        name: "other",
        plan: "enterprise",
        limits: { perMinute: 3, perDay: 4 },
        scopes: ["pets:read"],
        expiresAt: testStart + 9,
      } as const;
      const key = (await keys.findKey("key_a"))!;
      const after = { ...changed, revokedAt: 7, createdAt: 7 };
      expect(await keys.changeKey(key, after, anEntry)).toBe(true);
      expect((await keys.findSecret(digestOf("one")))?.key).toEqual(changed);
      expect((await inventory.readHead()).keysVersion).toBeGreaterThan(before.keysVersion);
    });

    if (!suite.isWhole) return;

    test("stays as it is if it was changed or revoked since it was read", async () => {
      const { keys, audit } = suite.store;
      await addKey("key_a", "one");
      const key = (await keys.findKey("key_a"))!;
      const renamed = { ...key, name: "other" };
      expect(await keys.changeKey(key, renamed, anEntry)).toBe(true);
      const recorded = await audit.listEntries({}, 100);
      const others: Partial<typeof key>[] = [
        { plan: "pro" },
        { limits: { perMinute: 1, perDay: key.limits.perDay } },
        { limits: { perMinute: key.limits.perMinute, perDay: 1 } },
        { scopes: [] },
        { expiresAt: 1 },
      ];
      for (const known of [key, ...others.map((one) => ({ ...renamed, ...one }))]) {
        expect(await keys.changeKey(known, { ...known, name: "lost" }, anEntry)).toBe(false);
      }
      expect(await keys.findKey("key_a")).toEqual(renamed);
      await keys.revokeKey("key_a", testStart, anEntry);
      expect(await keys.changeKey(renamed, { ...renamed, name: "lost" }, anEntry)).toBe(false);
      expect((await audit.listEntries({}, 100)).length).toBe(recorded.length + 1);
    });
  });

  describe("sessions", () => {
    test("are found with their key and the secret that opened them", async () => {
      const { keys, sessions } = suite.store;
      await addKey("key_a", "one");
      await sessions.addSession(sessionOf("token", "one"), 9, anEntry);
      expect(await sessions.findSession(digestOf("token"))).toEqual({
        session: sessionOf("token", "one"),
        key: { ...keyNamed("key_a"), name: "name of key_a" },
        secret: { digest: digestOf("one"), expiresAt: null },
      });
      await keys.addSecret("key_a", digestOf("two"), testStart, testStart + 1, anEntry);
      await keys.revokeKey("key_a", testStart + 2, anEntry);
      expect(await sessions.findSession(digestOf("token"))).toMatchObject({
        key: { revokedAt: testStart + 2 },
        secret: { expiresAt: testStart + 1 },
      });
      expect(await sessions.findSession(digestOf("other"))).toBeUndefined();
    });

    test("are removed at the end, which is announced, and by later ones once they expired", async () => {
      const { sessions, inventory } = suite.store;
      await addKey("key_a", "one");
      const { expiresAt } = sessionOf("token", "one");
      await sessions.addSession(sessionOf("token", "one"), 9, anEntry);
      await sessions.addSession(sessionOf("early", "one", expiresAt - 1), 9, anEntry);
      expect(await sessions.findSession(digestOf("token"))).toBeDefined();
      await sessions.addSession(sessionOf("late", "one", expiresAt), 9, anEntry);
      expect(await sessions.findSession(digestOf("token"))).toBeUndefined();
      const before = await inventory.readHead();
      expect(await sessions.removeSession(digestOf("late"), anEntry)).toBe(true);
      expect(await sessions.findSession(digestOf("late"))).toBeUndefined();
      expect((await inventory.readHead()).keysVersion).toBeGreaterThan(before.keysVersion);
    });

    if (!suite.isWhole) return;

    test("of one key are bounded: a new one ends the oldest, which is announced", async () => {
      const { keys, sessions, inventory } = suite.store;
      await addKey("key_a", "one");
      await keys.addSecret("key_a", digestOf("two"), testStart, testStart + 9, anEntry);
      await addKey("key_b", "other");
      const add = (token: string, secret: string, age: number) =>
        sessions.addSession(sessionOf(token, secret, testStart + age), 2, anEntry);
      const isLive = async (token: string) => !!(await sessions.findSession(digestOf(token)));
      await add("of another key", "other", 0);
      await add("second", "one", 2);
      await add("first", "two", 1);
      await add("third", "one", 3);
      const before = await inventory.readHead();
      expect(await isLive("first")).toBe(true);
      await add("fourth", "two", 4);
      expect((await inventory.readHead()).keysVersion).toBeGreaterThan(before.keysVersion);
      const tokens = ["of another key", "first", "second", "third", "fourth"];
      expect(await Promise.all(tokens.map(isLive))).toEqual([true, false, true, true, true]);
    });
  });
}

function sessionOf(token: string, secret: string, createdAt = testStart): Session {
  const secretDigest = digestOf(secret);
  return { digest: digestOf(token), secretDigest, createdAt, expiresAt: createdAt + 1_000 };
}
