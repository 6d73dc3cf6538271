import type { Position } from "../../src/domain/ledger/epochs.ts";
import type { Entry, Stock } from "../../src/domain/ledger/inventory.ts";
import type { LedgerRow } from "../../src/domain/ledger/ledger.ts";
import type { Head } from "../../src/domain/ledger/store.ts";
import { type EntryColumns, entriesOf, statusCode } from "../../src/domain/snapshots/columns.ts";
import {
  type DifferenceColumns,
  stocksAt as stocksIn,
} from "../../src/domain/snapshots/differences.ts";
import {
  differencesBetween,
  inventoryAt,
  type SnapshotSource,
} from "../../src/domain/snapshots/snapshots.ts";
import type { CheckpointPart } from "../../src/domain/snapshots/store.ts";
import type { Store } from "../../src/domain/store.ts";

type FoldedRow = Pick<LedgerRow, "seq" | "petId" | "after">;

export interface Difference {
  readonly petId: bigint;
  readonly before: Stock | null;
  readonly after: Stock | null;
}

/** The inventory as of a row, folded as simply as possible. */
export function foldedAt(rows: readonly FoldedRow[], seq: number): Entry[] {
  const entries = new Map<bigint, Entry>();
  for (const row of rows) {
    if (row.seq > seq) break;
    const { petId, after } = row;
    if (!after) entries.delete(petId);
    else {
      const { quantity, status } = after;
      entries.set(petId, { petId, quantity, status, version: row.seq });
    }
  }
  return [...entries.values()].sort((one, other) => (one.petId < other.petId ? -1 : 1));
}

/** Entries in typed arrays, as parts of checkpoints are made of. */
export function columnsOf(entries: readonly Entry[]): EntryColumns {
  return {
    count: entries.length,
    petIds: BigInt64Array.from(entries, ({ petId }) => petId),
    quantities: Float64Array.from(entries, ({ quantity }) => quantity),
    statuses: Uint8Array.from(entries, ({ status }) => statusCode(status)),
    versions: Float64Array.from(entries, ({ version }) => version),
  };
}

/** What differs between two folded inventories. */
export function foldedDifferences(
  rows: readonly FoldedRow[],
  from: number,
  to: number,
): Difference[] {
  const [before, after] = [from, to].map(
    (seq) => new Map(foldedAt(rows, seq).map((entry) => [entry.petId, stockOf(entry)])),
  );
  const petIds = [...new Set([...before!.keys(), ...after!.keys()])];
  return petIds
    .map((petId) => ({
      petId,
      before: before!.get(petId) ?? null,
      after: after!.get(petId) ?? null,
    }))
    .filter((one) => JSON.stringify(one.before) !== JSON.stringify(one.after))
    .sort((one, other) => (one.petId < other.petId ? -1 : 1));
}

function stockOf({ quantity, status }: Stock): Stock {
  return { quantity, status };
}

type Source = Pick<Store, "checkpoints" | "inventory">;

export async function readInventory(source: Source, seq: number): Promise<Entry[]> {
  const { epoch } = await source.inventory.readHead();
  const found: Entry[] = [];
  for await (const slice of await inventoryAt(source, { epoch, seq }))
    found.push(...entriesOf(slice));
  return found;
}

export async function readDifferences(
  source: Source,
  from: number,
  to: number,
  rowsComparedMax?: number,
): Promise<Difference[]> {
  const { epoch } = await source.inventory.readHead();
  const positions = [from, to].map((seq) => ({ epoch, seq })) as [Position, Position];
  const slices = await differencesBetween(source, ...positions, undefined, rowsComparedMax);
  const found: Difference[] = [];
  for await (const slice of slices) found.push(...differencesOf(slice));
  return found;
}

function differencesOf(slice: DifferenceColumns): Difference[] {
  return Array.from({ length: slice.count }, (_, index) => ({
    petId: slice.petIds[index]!,
    ...stocksIn(slice, index),
  }));
}

/** A ledger and its checkpoints in memory. It can have rows that remove pets. */
export function createArchive(): Source & {
  readonly rows: LedgerRow[];
  add(petId: bigint, after: Stock | null): void;
  /** The pets that each part of each checkpoint begins with. */
  readonly parts: Map<number, CheckpointPart[]>;
  epoch: string;
} {
  const rows: LedgerRow[] = [];
  const current = new Map<bigint, Stock>();
  const parts = new Map<number, CheckpointPart[]>();
  const complete = new Map<number, number>();
  let owner = "";
  const archive = {
    rows,
    parts,
    epoch: "first",
    add(petId: bigint, after: Stock | null) {
      const before = current.get(petId) ?? null;
      if (after) current.set(petId, after);
      else current.delete(petId);
      const previous = rows.findLast((row) => row.petId === petId)?.seq ?? null;
      const seq = rows.length + 1;
      rows.push({ seq, petId, before, after, previous: before && previous } as LedgerRow);
    },
  };
  const after = (seq: number, rowsMax: number) => rows.slice(seq, seq + rowsMax);
  const inventory = {
    readHead: (): Head => ({ epoch: archive.epoch, seq: rows.length, keysVersion: 0 }),
    isOutdated: (epoch: string) => epoch !== archive.epoch,
    stockAfter: after,
    ledgerAfter: after,
    undoFrom: (seq: number, rowsMax: number) =>
      rows.slice(Math.max(0, seq - rowsMax), seq).reverse(),
  } satisfies SnapshotSource["inventory"] & Pick<Store["inventory"], "readHead">;
  const list = () =>
    [...complete].map(([seq, entries]) => ({ seq, entries })).sort((one, two) => one.seq - two.seq);
  const checkpoints: Store["checkpoints"] = {
    findCheckpoint: (seq) => list().findLast((checkpoint) => checkpoint.seq <= seq),
    findNextCheckpoint: (seq) => list().find((checkpoint) => checkpoint.seq >= seq),
    listCheckpoints: list,
    partsAfter: (seq, petId, partsMax) =>
      (parts.get(seq) ?? [])
        .filter(({ firstPetId }) => petId === null || firstPetId > petId)
        .slice(0, partsMax),
    findPart: (seq, petId) =>
      (parts.get(seq) ?? []).findLast(({ firstPetId }) => firstPetId <= petId),
    async claim(writer) {
      owner = writer;
      return true;
    },
    async removeUnfinished(writer) {
      if (writer !== owner) return false;
      for (const seq of parts.keys()) if (!complete.has(seq)) parts.delete(seq);
      return 0;
    },
    async addPart(writer, seq, part) {
      if (writer !== owner) return false;
      parts.set(seq, [...(parts.get(seq) ?? []), part]);
      return true;
    },
    async complete(writer, { epoch, seq }, entries) {
      if (writer !== owner || epoch !== archive.epoch) return false;
      complete.set(seq, entries);
      return true;
    },
  };
  return Object.assign(archive, {
    inventory: inventory as unknown as Store["inventory"],
    checkpoints,
  });
}
