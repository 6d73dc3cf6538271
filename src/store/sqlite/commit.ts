import type { Database } from "bun:sqlite";
import { randomUUID } from "node:crypto";
import { append, appendRow } from "../../domain/ledger/append.ts";
import type { Entry, PetStatus } from "../../domain/ledger/inventory.ts";
import type { Committed, LedgerRow, Tip, Unit } from "../../domain/ledger/ledger.ts";
import type { Head } from "../../domain/ledger/store.ts";
import { unavailable } from "../../domain/running/errors.ts";
import type { AddRow } from "../pets.ts";
import {
  ledgerColumns,
  pushLedgerValues,
  storedLedgerColumns,
  tipColumns,
  toEpochStart,
  toLedgerRow,
  toTip,
  type Value,
} from "../rows.ts";
import { run } from "../statements.ts";
import { placeholders } from "../tables.ts";
import { inTransaction } from "./engine/connection.ts";
import { readUnservedEpoch, setEpoch } from "./epochs.ts";
import { createIdempotencyMemory } from "./idempotency.ts";

const headMovedBack =
  "the store lacks rows that this process has committed: its -wal or -shm file was overwritten";

const setTipText = "UPDATE head SET seq = $1, at = $2, hash = $3";

/** What a commit added, and the head that it left. */
export interface CommittedHead extends Committed {
  readonly head: Head;
}

export type LedgerWriter = ReturnType<typeof createLedgerWriter>;

/**
 * Writes the ledger and the inventory, on a connection that may block its thread. `isServed` tells
 * whether a service runs on the store; undefined if this is the service.
 */
export function createLedgerWriter(database: Database, isServed?: () => boolean) {
  const headReader = createHeadReader(database);
  const setTip = database.query(setTipText);
  const [epochOf, past] = [epochFinder(database), pastReader(database)];
  const known = createKnownEntries(database);
  const setEntries = createEntrySetter(database);
  const addRows = createRowInserter(database);
  const idempotency = createIdempotencyMemory(database);
  let epochToBegin: string | undefined;

  function beginPendingEpoch(): void {
    if (epochToBegin !== undefined) setEpoch(database, epochToBegin);
  }

  const commitUnits = inTransaction(
    database,
    (units: readonly Unit[], now: number, giveUpAt: number, unservedEpoch: string | undefined) => {
      if (performance.now() > giveUpAt) throw unavailable("timeout");
      beginPendingEpoch();
      const { tip, epoch, newEpoch, keysVersion } = headReader.read(unservedEpoch);
      const entries = known.find(units, tip);
      const remembered = units.some(isIdempotent) ? idempotency.find(units, epochOf) : new Map();
      const appended = append({ epoch, tip, entries, remembered, epochOf, ...past }, units, now);
      if (appended.rows.length > 0 && newEpoch !== undefined) setEpoch(database, newEpoch);
      addRows(appended.rows, appended.hashes);
      setEntries(entries, appended.rows);
      const { tip: end } = appended;
      if (end !== tip) setTip.run(end.seq, end.at, end.hash);
      const stored = appended.usedKeys.length > 0 ? idempotency.store(appended) : undefined;
      return { appended, stored, head: { epoch, seq: end.seq, keysVersion } };
    },
  );
  const prune = inTransaction(database, idempotency.prune);

  return {
    /**
     * If the write lock is obtained after `giveUpAt` (a time of `performance.now()`), throws and stores
     * nothing: callers may already have an error, and another process may have stored later updates.
     */
    commit(units: readonly Unit[], now: number, giveUpAt: number): CommittedHead {
      const { appended, stored, head } = commitUnits(
        units,
        now,
        giveUpAt,
        isServed && readUnservedEpoch(database, isServed),
      );
      epochToBegin = undefined;
      known.committed(appended.tip);
      headReader.committed(head.seq);
      if (stored) idempotency.committed(stored);
      return { ...appended, head };
    },
    /**
     * Runs `work` in a transaction in which it can add one row to the ledger. Work that adds rows by itself
     * first begins an epoch if that of the store is still the unserved one.
     */
    transact<T>(now: number, work: (add: AddRow, unservedEpoch: string | undefined) => T): T {
      const unservedEpoch = isServed && readUnservedEpoch(database, isServed);
      const transaction = inTransaction(database, () => {
        beginPendingEpoch();
        return work(function* (content) {
          const { tip, epoch, newEpoch } = headReader.read(unservedEpoch);
          const { row, tip: end } = appendRow(tip, content, now);
          if (newEpoch !== undefined) setEpoch(database, newEpoch);
          addRows([row], [end.hash]);
          yield* run(setTipText, [end.seq, end.at, end.hash]);
          return { row, epoch };
        }, unservedEpoch);
      });
      const result = transaction();
      epochToBegin = undefined;
      return result;
    },
    /**
     * Begins an epoch. If that fails, the next commit begins it: in a store that was restored from a
     * backup, the last epoch may already have had other rows under the next numbers.
     */
    beginEpoch(epoch: string): void {
      epochToBegin = epoch;
      inTransaction(database, beginPendingEpoch)();
      epochToBegin = undefined;
    },
    /**
     * Reads some of the stored idempotency keys into memory, so that the first commit that needs them
     * does not have to read all. Returns false when none is left.
     */
    loadIdempotency: idempotency.load,
    /** Deletes idempotency keys of at most `commitsMax` commits. Returns the number of commits. */
    pruneIdempotency(before: number, commitsMax: number): number {
      const pruned = prune(before, commitsMax);
      // Only after the commit: if it fails, the keys must still be found.
      idempotency.pruned();
      return pruned;
    },
  };
}

function createHeadReader(database: Database) {
  const headOf = database.query(`SELECT ${tipColumns}, epoch, keys_version FROM head`);
  /** The last row that this process has seen or committed. */
  let lastSeq = 0;
  return {
    committed(seq: number): void {
      lastSeq = seq;
    },
    /** Reads the head in a transaction. `newEpoch` must be set with the first row. */
    read(unservedEpoch: string | undefined) {
      const head = headOf.values()[0]!;
      const tip = toTip(head);
      // Nothing moves the head back but an older copy of the log or of its index.
      if (tip.seq < lastSeq) throw unavailable("unwritable", headMovedBack);
      lastSeq = tip.seq;
      const newEpoch = head[3] === unservedEpoch ? randomUUID() : undefined;
      const epoch = newEpoch ?? (head[3] as string);
      return { tip, epoch, newEpoch, keysVersion: Number(head[4]) };
    },
  };
}

function isIdempotent({ idempotency }: Unit): boolean {
  return idempotency !== undefined;
}

function epochFinder(database: Database): (row: number) => string | undefined {
  const epochAt = database.query(
    "SELECT epoch FROM epochs WHERE from_seq < ? ORDER BY number DESC LIMIT 1",
  );
  return (row) => epochAt.values(row)[0]?.[0] as string | undefined;
}

/** What counts need of the ledger. */
function pastReader(database: Database) {
  const rowOf = database.query(`SELECT ${ledgerColumns} FROM ledger WHERE seq = ?`);
  const epochs = database.query("SELECT epoch, from_seq FROM epochs ORDER BY number");
  return {
    storedRow: (seq: number) => rowOf.values(seq).map(toLedgerRow)[0],
    listEpochs: () => epochs.values().map(toEpochStart),
  };
}

/** Entries kept in memory: about 10 MB. */
const knownMax = 65_536;

/**
 * Finds entries, and keeps them in memory until a commit fails or something else adds a row.
 */
function createKnownEntries(database: Database) {
  const entryOf = database.query(
    "SELECT quantity, status, version FROM inventory WHERE pet_id = ?",
  );
  let known = new Map<bigint, Entry>();
  /** The hash of the last row that the known entries include. */
  let hash: string | undefined;
  return {
    /** The entries of all pets that the units name, and others. Call `committed` with what becomes of them. */
    find(units: readonly Unit[], tip: Tip): Map<bigint, Entry> {
      if (tip.hash !== hash || known.size > knownMax) known = new Map();
      hash = undefined;
      for (const { changes } of units) {
        for (const { petId } of changes) {
          const row = known.has(petId) ? undefined : entryOf.values(petId)[0];
          if (!row) continue;
          const [quantity, status, version] = row as [bigint, PetStatus, bigint];
          known.set(petId, { petId, quantity: Number(quantity), status, version: Number(version) });
        }
      }
      return known;
    },
    committed(tip: Tip): void {
      hash = tip.hash;
    },
  };
}

/** Updates the entries that these rows changed. */
function createEntrySetter(database: Database) {
  const setEntry = database.query(
    "UPDATE inventory SET quantity = ?, status = ?, version = ? WHERE pet_id = ?",
  );
  return (entries: ReadonlyMap<bigint, Entry>, rows: readonly LedgerRow[]): void => {
    for (const { seq, petId } of rows) {
      const { quantity, status, version } = entries.get(petId)!;
      // Of several rows of a pet, only the last one is its entry.
      if (version === seq) setEntry.run(quantity, status, version, petId);
    }
  };
}

/** Inserts ledger rows with their hashes. */
function createRowInserter(
  database: Database,
): (rows: readonly LedgerRow[], hashes: readonly string[]) => void {
  const insert = createValueInserter(database);
  return (rows, hashes) => {
    const values: Value[] = [];
    for (let at = 0; at < rows.length; at++) {
      pushLedgerValues(values, rows[at]!);
      values.push(Uint8Array.fromHex(hashes[at]!));
    }
    insert(values);
  };
}

/**
 * Inserts ledger rows from their values, several rows per statement: calling SQLite costs as much as
 * inserting a row, so a block of rows takes half the time. Blocks have 128, 64, 32 or fewer rows: a group
 * of 45 is inserted as 32 and 13.
 */
function createValueInserter(database: Database): (values: Value[]) => void {
  const columns = placeholders(storedLedgerColumns).split(",").length;
  const row = `(${placeholders(storedLedgerColumns)})`;
  const insertOf = (rows: number) =>
    database.query(
      `INSERT INTO ledger (${storedLedgerColumns}) VALUES ${Array(rows).fill(row).join()}`,
    );
  const inserts: ReturnType<typeof insertOf>[] = [];
  return (values) => {
    const count = values.length / columns;
    for (let at = 0; at < count; ) {
      const left = count - at;
      const rows = [128, 64, 32].find((block) => block <= left) ?? left;
      inserts[rows] ??= insertOf(rows);
      const isAll = rows === count;
      inserts[rows].run(...(isAll ? values : values.slice(at * columns, (at + rows) * columns)));
      at += rows;
    }
  };
}
