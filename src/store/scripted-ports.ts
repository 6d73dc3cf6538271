import { auditReads, auditWrites } from "./audit.ts";
import { keyReads, keyWrites, secretReads } from "./keys.ts";
import { madePruning, madeReads, madeWrites } from "./made.ts";
import { maintenanceReads, maintenanceWrites } from "./maintenance.ts";
import { petWrites } from "./pets.ts";
import { requestReads, requestWrites } from "./requests.ts";
import { salesReads, salesWrites } from "./sales.ts";
import { sessionReads, sessionWrites } from "./sessions.ts";
import type { Blocking, Dialect, Promising } from "./statements.ts";
import { stocktakeReads, stocktakeWrites } from "./stocktakes.ts";
import { webhookReads, webhookWrites } from "./webhooks.ts";

/** How an engine makes methods of scripts. */
export interface ScriptMethods {
  /** For reads that every request may wait for. On SQLite they return values, not promises. */
  quick<S extends object>(scripts: S): Blocking<S> | Promising<S>;
  reads<S extends object>(scripts: S): Promising<S>;
  /** Each script is one transaction. */
  writes<S extends object>(scripts: S): Promising<S>;
}

/** The ports, or parts of them, whose scripts both engines run. */
export function createScriptedPorts({ quick, reads, writes }: ScriptMethods, dialect: Dialect) {
  return {
    keys: { ...quick(secretReads), ...reads(keyReads), ...writes(keyWrites(dialect)) },
    sessions: { ...quick(sessionReads), ...writes(sessionWrites(dialect)) },
    pets: writes(petWrites(dialect)),
    webhooks: { ...reads(webhookReads), ...writes(webhookWrites(dialect)) },
    sales: { ...reads(salesReads), ...writes(salesWrites) },
    requests: { ...reads(requestReads), ...writes(requestWrites(dialect)) },
    maintenance: { ...reads(maintenanceReads), ...writes(maintenanceWrites) },
    stocktakes: { ...reads(stocktakeReads), ...writes(stocktakeWrites) },
    made: { ...reads(madeReads), ...writes({ ...madeWrites, ...madePruning }) },
    audit: { ...reads(auditReads), ...writes(auditWrites(dialect)) },
  };
}

/** All writes of these ports but those that are tried again if they fail. */
export const scriptedWrites = (dialect: Dialect) => ({
  ...keyWrites(dialect),
  ...sessionWrites(dialect),
  ...petWrites(dialect),
  ...webhookWrites(dialect),
  ...maintenanceWrites,
  ...stocktakeWrites,
  ...madeWrites,
  ...auditWrites(dialect),
});
