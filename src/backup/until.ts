import { createHash } from "node:crypto";
import { petFields } from "../domain/catalogue/pet-fields.ts";
import { type EpochStart, positionOf } from "../domain/ledger/epochs.ts";
import { packKeys, unpackKeys } from "../domain/ledger/idempotency.ts";
import type { RowsOf, StoredRow } from "../domain/verification/store.ts";
import { batchRows, tables } from "../store/tables.ts";
import type { Reach } from "./reach.ts";

/** What a restored moment has, but neither the backup nor the later ledger describes. */
export interface Undescribed {
  readonly pets: bigint[];
  readonly keys: Set<unknown>;
}

/**
 * How one table becomes that of the moment: a row of the backup, and then of the later ledger, as it is
 * kept, or undefined; last, the rows that follow from the ledger. Without a function, no row is kept.
 */
interface Rule {
  readonly base?: (row: StoredRow) => StoredRow | undefined;
  readonly later?: (row: StoredRow) => StoredRow | undefined;
  readonly end?: () => Iterable<StoredRow>;
}

/**
 * The tables of a store as of a moment. What follows from the ledger is exact: stock, removals, the memory
 * of idempotency keys, epochs. Everything else is as the backup has it. Pets and keys that it does not have
 * yet come from the later ledger; if they are in neither, a pet gets a name, and a key is revoked. The
 * tables must be read in the order of a backup.
 */
export function rowsUntil(
  base: RowsOf,
  later: RowsOf,
  baseSeq: number,
  { until, states, removals }: Reach,
): { readonly rowsOf: RowsOf; readonly undescribed: Undescribed } {
  const lost: Undescribed = { pets: [], keys: new Set() };
  const [uniqueValues, usedKeys, broughtKeys] = [new Set(), new Set(), new Set()];
  const epochs: EpochStart[] = [];

  const isKept = (row: StoredRow) => Number(row[0]) <= until.seq;
  const isLater = (row: StoredRow) => Number(row[0]) > baseSeq && isKept(row);

  /** A pet that exists at the moment and was not seen yet. */
  function takePet(row: StoredRow): boolean {
    const slot = states.slotOf(BigInt(row[0] as bigint));
    return states.at(slot).quantity !== null && !states.mark(slot, "pet");
  }

  /** The keys of the requests of which every row is kept. */
  function cutKeys([seq, at, records]: StoredRow): StoredRow | undefined {
    const stored = { seq: Number(seq), at: Number(at), records: records as Uint8Array };
    const kept = unpackKeys(stored).filter(
      ({ firstSeq, rows }) => firstSeq + rows - 1 <= until.seq,
    );
    return kept.length > 0 ? [seq, at, packKeys(stored.seq, stored.at, kept).records] : undefined;
  }

  function takeEpoch(row: StoredRow): StoredRow | undefined {
    const start = { epoch: row[1] as string, fromSeq: Number(row[2]) };
    if (start.fromSeq > until.seq || epochs.some(({ epoch }) => epoch === start.epoch)) return;
    epochs.push(start);
    return row;
  }

  function* entries(): Generator<StoredRow> {
    for (let slot = 0; slot < states.count; slot++) {
      const { seq, quantity, status } = states.at(slot);
      if (quantity !== null) yield [states.idOf(slot), quantity, status, seq];
    }
  }

  const rules: Readonly<Record<string, Rule>> = {
    pets: {
      base(row) {
        if (!takePet(row)) return undefined;
        for (const at of uniqueColumns) uniqueValues.add(row[at]);
        return row;
      },
      // A barcode may have passed to this pet from one that still has it in the backup.
      later: (row) =>
        takePet(row)
          ? row.map((value, at) =>
              uniqueColumns.includes(at) && uniqueValues.has(value) ? null : value,
            )
          : undefined,
      *end() {
        for (const [petId] of entries()) {
          if (!takePet([petId])) continue;
          lost.pets.push(petId as bigint);
          yield petWithoutName(petId as bigint);
        }
      },
    },
    inventory: { end: entries },
    ledger: {
      base: (row) => (isKept(row) ? row : undefined),
      later(row) {
        if (!isLater(row)) return undefined;
        if (row[8] !== null) usedKeys.add(row[8]);
        return row;
      },
    },
    removed_pets: { end: () => removals.entries().map(([slot, seq]) => [states.idOf(slot), seq]) },
    // Rows up to `from_seq` have no hash of their own.
    chain: { base: (row) => (Number(row[1]) > until.seq ? [row[0], until.seq, until.hash] : row) },
    remembered_keys: {
      base: (row) => (isKept(row) ? cutKeys(row) : undefined),
      later: (row) => (isLater(row) ? cutKeys(row) : undefined),
    },
    keys: {
      base(row) {
        usedKeys.delete(row[0]);
        return row;
      },
      later(row) {
        if (!usedKeys.delete(row[0])) return undefined;
        broughtKeys.add(row[0]);
        return row;
      },
      *end() {
        for (const id of usedKeys) {
          lost.keys.add(id);
          yield [id, "(name lost)", "free", 1, 1, "inventory:read", until.at, null, until.at];
        }
      },
    },
    secrets: {
      base: (row) => row,
      later: (row) => (broughtKeys.has(row[1]) ? row : undefined),
      // Every key has a secret. Nobody has this one, and the key is revoked.
      end: () => lost.keys.values().map((id) => [digestOf(id), id, until.at, null]),
    },
    epochs: { base: takeEpoch, later: takeEpoch },
    webhooks: {
      base(row) {
        if (Number(row[13]) <= until.seq) return row;
        const epoch = positionOf(epochs, until.seq)?.epoch ?? row[12];
        return row.with(12, epoch).with(13, until.seq);
      },
    },
  };

  async function* rowsOf(table: string): AsyncGenerator<readonly StoredRow[]> {
    const rule = rules[table] ?? { base: (row) => row };
    for (const [source, keep] of [[base, rule.base] as const, [later, rule.later] as const]) {
      if (!keep) continue;
      for await (const batch of source(table))
        yield batch.map(keep).filter((row) => row !== undefined);
    }
    let batch: StoredRow[] = [];
    for (const row of rule.end?.() ?? []) {
      if (batch.push(row) < batchRows) continue;
      yield batch;
      batch = [];
    }
    yield batch;
  }

  return { rowsOf, undescribed: lost };
}

/** Where a row of the table of pets has values that no two pets may have. The id comes first. */
const uniqueColumns = petFields.flatMap(({ kind }, at) => (kind === "uniqueText" ? [at + 1] : []));

function petWithoutName(petId: bigint): StoredRow {
  const { columns, initial } = tables.find(({ name }) => name === "pets")!;
  const [, , ...others] = columns.split(", ");
  return [petId, `Pet ${petId} (name lost)`, ...others.map((column) => initial!.get(column))];
}

function digestOf(id: unknown): string {
  return createHash("sha256").update(`lost ${id} ${crypto.randomUUID()}`).digest("hex");
}
