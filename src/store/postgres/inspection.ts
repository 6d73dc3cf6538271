import type { EngineFact, StoreInspection } from "../../domain/operations/inspection.ts";
import { ServiceError } from "../../domain/running/errors.ts";
import { keyReads } from "../keys.ts";
import { maintenanceReads } from "../maintenance.ts";
import { webhookReads } from "../webhooks.ts";
import { checkRights, readNumber } from "./creation.ts";
import { createDatabase } from "./engine/database.ts";
import { describeFailure } from "./engine/failures.ts";
import { scriptsOn } from "./engine/scripts.ts";
import type { Session } from "./engine/session.ts";
import { hasRowText } from "./history.ts";
import { createUsage } from "./usage.ts";

/** The oldest server version that was tested. */
const versionMin = 15;
/** Connections that one more instance and a command need. */
const connectionsFreeMin = 8;

/** For one statement, so that a lock of another session does not stop the inspection. */
const statementMs = 2_000;

/** Connects to the primary. Everything ends within `deadlineMs`, also if the server hangs. */
export async function openInspection(url: string, deadlineMs: number): Promise<StoreInspection> {
  const database = createDatabase(url);
  try {
    const session = await database.connect();
    const timer = setTimeout(session.close, deadlineMs);
    const close = () => {
      clearTimeout(timer);
      session.close();
      database.close();
    };
    await session.query(`SET statement_timeout = ${statementMs}`);
    return createInspection(database.label, session, close);
  } catch (error) {
    database.close();
    throw describe(database.label, error);
  }
}

function describe(label: string, error: unknown): unknown {
  if (error instanceof ServiceError && error.cause === undefined) return error;
  return new ServiceError("unavailable", `${label}: ${describeFailure(error)}`);
}

function createInspection(label: string, session: Session, close: () => void): StoreInspection {
  const query: Session["query"] = async (text, values) => {
    try {
      return await session.query(text, values);
    } catch (error) {
      throw describe(label, error);
    }
  };
  const usage = createUsage(query, () => null);

  return {
    label,
    get isOpen() {
      return session.isOpen;
    },
    readSchema: () => readNumber({ ...session, query }),
    async findEnvironment() {
      const [row] = await query("SELECT environment FROM store WHERE id = 1");
      return row?.[0] as string | undefined;
    },
    // A server that accepts no writes was rejected when the session was opened.
    checkWritable: () => checkRights({ ...session, query }),
    async readTimes() {
      const sentAt = Date.now();
      const [row] = await query(`SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::int8,
        (SELECT max(at) FROM ledger_end), (SELECT max(minute_start) FROM counts)`);
      // The server read its clock about half a round trip ago.
      const halfTripMs = (Date.now() - sentAt) / 2;
      return {
        serverNow: Number(row![0]) + halfTripMs,
        lastRowAt: Number(row![1] ?? 0),
        lastWindowAt: Number(row![2] ?? 0),
      };
    },
    hasRow: async (...row) => (await query(hasRowText, row))[0]![0] === true,
    listFacts: async () => toFacts((await query(factsText))[0]!),
    loadUsage: usage.loadUsage,
    loadBans: usage.loadBans,
    ...scriptsOn(query, { ...keyReads, ...maintenanceReads, ...webhookReads }),
    close,
  };
}

const factsText = `SELECT current_setting('server_version'),
  current_setting('server_version_num')::int4 / 10000,
  current_setting('fsync'), current_setting('full_page_writes'),
  current_setting('synchronous_commit'), current_setting('transaction_isolation'),
  current_setting('max_connections')::int4 - current_setting('superuser_reserved_connections')::int4
    - (SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend')::int4,
  (SELECT count(*) FROM pg_stat_activity
   WHERE datname = current_database() AND backend_type = 'client backend'
     AND pid <> pg_backend_pid())::int4`;

function toFacts(row: readonly unknown[]): readonly EngineFact[] {
  const [version, major, fsync, fullPages, synchronous, isolation, free, others] = row;
  const connections = `${free} free on the server, ${others} others on this database`;
  const fact = (name: string, found: unknown): EngineFact => ({
    name,
    found: String(found),
    result: "ok",
  });
  const unless = (isGood: boolean, fact: EngineFact, bad: Partial<EngineFact>): EngineFact =>
    isGood ? fact : { ...fact, result: "warning", ...bad };
  return [
    unless(Number(major) >= versionMin, fact("PostgreSQL version", version), {
      advice: `Upgrade the server: ${versionMin} is the oldest tested.`,
    }),
    unless(fsync === "on", fact("fsync", `fsync is ${fsync}`), {
      result: "problem",
      advice: "Set fsync to on: a power failure can destroy the whole database.",
    }),
    unless(fullPages === "on", fact("full_page_writes", `full_page_writes is ${fullPages}`), {
      advice: "Set full_page_writes to on, unless the file system never tears pages.",
    }),
    fact(
      "synchronous_commit",
      synchronous === "off"
        ? "off; the service waits for the disk anyway before it acknowledges an update"
        : synchronous,
    ),
    fact("isolation level", `${isolation}; the service sets its own for writes`),
    unless(Number(free) >= connectionsFreeMin, fact("connections", connections), {
      advice:
        "Raise max_connections, or end sessions: an instance uses four connections and one more each second.",
    }),
  ];
}
