import { describe, expect, test } from "bun:test";
import type { KeyStatus } from "../src/domain/keys/lifecycle.ts";
import {
  endingMs,
  lastBackupAt,
  listAttention,
  type ServiceState,
} from "../src/domain/operations/attention.ts";
import type { MaintenanceRecord } from "../src/domain/operations/maintenance.ts";
import type { Webhook } from "../src/domain/webhooks/webhook.ts";

const now = Date.UTC(2026, 10, 15, 12);
const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

const recent = {
  task: "backup",
  startedAt: now - 1_000,
  succeededAt: now - 500,
  failedAt: null,
  result: "{}",
  error: null,
} as const;

const drilled = { ...recent, task: "drill" } as const;

/** Backups of which the folder has the given files, by their times. */
const backupsOf = (
  files: readonly number[] | undefined,
  known: Partial<ServiceState["backups"]> = {},
) => ({
  everyMs: undefined,
  lastAt: (records: readonly MaintenanceRecord[]) =>
    lastBackupAt(
      records,
      files?.map((createdAt) => ({ name: "", bytes: 0, createdAt })),
      now,
    ),
  listAhead: () => [],
  findProblem: () => undefined,
  ...known,
});

/** A service that needs no attention. */
const fine: ServiceState = {
  now,
  isReady: true,
  canWrite: true,
  lostRows: undefined,
  keys: [],
  webhooks: [],
  maintenance: [recent, drilled],
  backups: backupsOf([]),
  replica: undefined,
  certificateExpiresAt: undefined,
};

const textsOf = (state: Partial<ServiceState>) =>
  listAttention({ ...fine, ...state }).map(({ severity, text }) => `${severity}: ${text}`);

function aKey(name: string, fields: Partial<KeyStatus> & { expiresAt?: number } = {}): KeyStatus {
  const { expiresAt = null, ...rest } = fields;
  const key = {
    id: "key_1",
    name,
    plan: "free",
    limits: { perMinute: 60, perDay: 1_000 },
    scopes: [],
    createdAt: 0,
    expiresAt,
    revokedAt: null,
  } as const;
  return {
    key,
    state: "active",
    lastUsedAt: null,
    usedThisMinute: 0,
    usedToday: 0,
    secrets: [],
    bannedUntil: null,
    ...rest,
  };
}

const aWebhook = (name: string, fields: Partial<Webhook>) =>
  ({ name, state: "active", failures: 0, ...fields }) as Webhook;

describe("what needs attention", () => {
  test("nothing, if everything is well", () => {
    const keys = [aKey("a", { usedToday: 899, expiresAt: now + endingMs + 1 })];
    const webhooks = [aWebhook("a", {})];
    expect(textsOf({ keys, webhooks, certificateExpiresAt: now + endingMs + 1 })).toEqual([]);
  });

  test("backups that have changes which the store does not have", () => {
    const backups = backupsOf([], { listAhead: () => ["/b/2.petstore", "/b/1.petstore"] });
    expect(textsOf({ backups })).toEqual([
      "problem: Backups with changes that the store does not have: 2. The newest is /b/2.petstore.",
    ]);
  });

  test("a continuous copy that is not current", () => {
    const checked = (error: string | null) =>
      textsOf({ replica: { runs: () => ({ ...recent, error }), ageMs: () => 0 } });
    expect(checked(null)).toEqual([]);
    expect(checked("the command ended with exit code 1")).toEqual([
      "problem: The continuous copy is not current: the command ended with exit code 1.",
    ]);
  });

  test("a store that cannot be written, a service that is not ready, a certificate that ends", () => {
    expect(textsOf({ canWrite: false, isReady: false })).toEqual([
      "problem: The store cannot be written to. Updates get an error.",
    ]);
    expect(textsOf({ isReady: false })).toEqual([
      "problem: The service is not ready. Requests may get errors.",
    ]);
    expect(textsOf({ lostRows: { found: 4, acknowledged: 54 } })).toEqual([
      "problem: Acknowledged updates are missing: rows 5 to 54 of the ledger. The service was started with --accept-older=4.",
    ]);
    expect(textsOf({ certificateExpiresAt: now + endingMs })).toEqual([
      "warning: The TLS certificate expires at 2026-11-29T12:00:00Z.",
    ]);
    expect(textsOf({ certificateExpiresAt: now - dayMs })).toEqual([
      "problem: The TLS certificate expired at 2026-11-14T12:00:00Z.",
    ]);
  });

  test("backups that are missing, late, failed or not known", () => {
    const none = ["warning: There is no backup of the store yet."];
    expect(textsOf({ maintenance: [] })).toEqual(none);
    expect(textsOf({ maintenance: [], backups: backupsOf(undefined) })).toEqual([]);
    const aged = (ageMs: number, everyMs?: number) => {
      const maintenance = [{ ...recent, succeededAt: now - ageMs }, drilled];
      return textsOf({ maintenance, backups: backupsOf([], { everyMs }) });
    };
    expect(aged(26 * hourMs)).toEqual([]);
    expect(aged(26 * hourMs + 1)).toEqual([
      "warning: The last backup is from 2026-11-14T10:00:00Z.",
    ]);
    expect(aged(2 * hourMs, hourMs)).toEqual([]);
    expect(aged(2 * hourMs + 1, hourMs)).toEqual([
      "problem: The last backup is from 2026-11-15T10:00:00Z.",
    ]);
    const failed = (failedAt: number, files: readonly number[] = []) => {
      const maintenance = [{ ...recent, failedAt, error: "disk full" }, drilled];
      return textsOf({ maintenance, backups: backupsOf(files) });
    };
    expect(failed(now - 100)).toEqual(["problem: The last backup failed: disk full"]);
    expect(failed(now - 600)).toEqual([]);
    expect(failed(now - 100, [now - 50])).toEqual([]);
    const backups = backupsOf([], { findProblem: () => "cannot read /b: I/O error" });
    expect(textsOf({ maintenance: [], backups })).toEqual([
      "problem: The backups are not known: cannot read /b: I/O error.",
    ]);
  });

  test("the newest file is the last backup of a restored store, unless its time is in the future", () => {
    const restored = (...files: number[]) =>
      textsOf({ maintenance: [drilled], backups: backupsOf(files) });
    expect(restored(now - hourMs)).toEqual([]);
    expect(restored(now + dayMs, now - hourMs)).toEqual([]);
    expect(restored(now + dayMs, now - 3 * dayMs)).toEqual([
      "warning: The last backup is from 2026-11-12T12:00:00Z.",
    ]);
  });

  test("drills that are missing, late or failed, once there is a backup", () => {
    const drill = (fields: Partial<MaintenanceRecord>) =>
      textsOf({ maintenance: [recent, { ...drilled, ...fields }] });
    expect(textsOf({ maintenance: [recent] })).toEqual([
      "warning: No backup was ever restored as a test.",
    ]);
    expect(drill({ succeededAt: now - 35 * dayMs })).toEqual([]);
    expect(drill({ succeededAt: now - 36 * dayMs })).toEqual([
      "warning: The last drill is from 2026-10-10T12:00:00Z.",
    ]);
    expect(drill({ failedAt: now, error: "a row is damaged" })).toEqual([
      "problem: The last drill failed: a row is damaged",
    ]);
  });

  test("webhooks that fail, are disabled or paused, in one sentence for each state", () => {
    const webhooks = [
      aWebhook("a", { state: "paused", failures: 9 }),
      aWebhook("b", { failures: 1 }),
      aWebhook("c", { failures: 2 }),
      aWebhook("d", { state: "disabled" }),
    ];
    expect(textsOf({ webhooks })).toEqual([
      "problem: Webhook 'd' is disabled, because the receiver returned 410.",
      "problem: 2 webhooks ('b', 'c') are failing. Deliveries are retried.",
      "warning: Webhook 'a' is paused.",
    ]);
  });

  test("keys that are banned, about to expire or close to their limit, but not those that are over", () => {
    const keys = [
      aKey("gone", { state: "revoked", expiresAt: now + 1, usedToday: 1_000 }),
      aKey("past", { state: "expired", expiresAt: now - 1 }),
      aKey("full", { usedToday: 900 }),
      ...["a", "b", "c", "d"].map((name) => aKey(name, { state: "banned" })),
      aKey("ending", { expiresAt: now + endingMs }),
    ];
    expect(textsOf({ keys })).toEqual([
      "warning: 4 keys ('a', 'b', 'c', …) are banned for ignoring the rate limit.",
      "warning: Key 'ending' is about to expire, at 2026-11-29T12:00:00Z or later.",
      "warning: Key 'full' is close to the daily limit.",
    ]);
  });
});
