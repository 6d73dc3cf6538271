import { Database } from "bun:sqlite";
import { rmSync } from "node:fs";
import { join } from "node:path";
import type { Environment } from "../../domain/keys/keys.ts";
import type { UpgradeCheck, UpgradePlan, UpgradeTrial } from "../../domain/operations/upgrades.ts";
import type { Clock } from "../../domain/running/clock.ts";
import { verify } from "../../domain/verification/verify.ts";
import { madeByNewer, planOf } from "../schema-versions.ts";
import { guarded, openForReading, unavailableOr } from "./engine/connection.ts";
import { filesOf } from "./engine/files.ts";
import { copyFile, roomForCopy } from "./engine/upgrade.ts";
import { applySteps, assertEnvironment, assertOurs, versionOf } from "./schema/migrations.ts";
import { steps } from "./schema/steps.ts";
import { openSqlite } from "./store.ts";

/** Tells what a start would migrate in a file. Services of any version may use it meanwhile. */
export function checkSqliteUpgrade(
  path: string,
  environment: Environment,
  clock: Clock,
): UpgradeCheck {
  const plan = readPlan(path, environment);
  return { plan, tryOnCopy: () => tryOnCopy(path, environment, clock) };
}

const readPlan = guarded((path: string, environment: Environment): UpgradePlan => {
  using database = openForReading(path);
  assertOurs(database);
  const version = versionOf(database);
  if (version > steps.length) throw madeByNewer(steps, version);
  assertEnvironment(database, environment);
  const { folder, needed, free } = roomForCopy(path);
  return {
    // One process serves a file, and it is stopped for every upgrade.
    ...planOf(steps, version, () => null),
    room: { folder, neededBytes: needed, freeBytes: free },
  };
});

/** Migrates a copy beside the store, where a start also puts its backup. */
async function tryOnCopy(
  path: string,
  environment: Environment,
  clock: Clock,
): Promise<UpgradeTrial> {
  const scratch = join(roomForCopy(path).folder, `.upgrade-check-${crypto.randomUUID()}.tmp`);
  try {
    const startedAt = performance.now();
    copyFile(path, scratch);
    const copiedAt = performance.now();
    migrateCopy(scratch, environment);
    const migratedAt = performance.now();
    const store = await openSqlite({ path: scratch, environment, clock, threaded: false });
    const found = await store.transfer.snapshot(verify).finally(() => store.close());
    return {
      copyMs: copiedAt - startedAt,
      migrateMs: migratedAt - copiedAt,
      verifyMs: performance.now() - migratedAt,
      rows: found.rows,
      faults: found.faults,
      faultCount: found.faultCount,
    };
  } catch (error) {
    throw unavailableOr(error);
  } finally {
    for (const file of Object.values(filesOf(scratch))) rmSync(file, { force: true });
  }
}

function migrateCopy(path: string, environment: Environment): void {
  using database = new Database(path, { readwrite: true, safeIntegers: true, strict: true });
  database.run("PRAGMA foreign_keys = ON");
  database.transaction(() => applySteps(database, environment)).immediate();
}
