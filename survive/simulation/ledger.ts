// A store in memory: the real rules, and the delays and faults of an engine.
import { append, type Remembered } from "../../src/domain/ledger/append.ts";
import { type EpochStart, epochOf } from "../../src/domain/ledger/epochs.ts";
import type { Entry } from "../../src/domain/ledger/inventory.ts";
import type { LedgerRow, NamedRow, Tip, Unit } from "../../src/domain/ledger/ledger.ts";
import type { Head, HistoryReader, InventoryStore } from "../../src/domain/ledger/store.ts";
import { unavailable } from "../../src/domain/running/errors.ts";
import { call, never, type Process } from "./process.ts";
import type { World } from "./time.ts";

export type Ledger = ReturnType<typeof createLedger>;

export type LedgerPort = InventoryStore & Pick<HistoryReader, "listRows">;

/** How late the lock may be obtained. Clients of a lost connection get their answer after it. */
const waitMsMax = 3_000;
const clockErrorMs = 200;

export function createLedger(
  world: World,
  isEmbedded: boolean,
  pets: number,
  onStored: (rows: readonly LedgerRow[]) => void,
  /** The clock of the store. */
  now = Date.now,
) {
  const rows: LedgerRow[] = [];
  const epochs: EpochStart[] = [{ epoch: "epoch-0", fromSeq: 0 }];
  const entries = entriesOf(pets);
  const remembered = new Map<string, Remembered>();
  let tip: Tip = { seq: 0, at: 0, hash: "" };
  const lock = createLock();

  const head = (): Head => ({ epoch: epochs.at(-1)!.epoch, seq: tip.seq, keysVersion: 0 });
  /** Stores units while the lock is held. Nothing is stored if it was obtained too late. */
  async function transact(process: Process, units: readonly Unit[], giveUpAt: number) {
    const unlock = await lock();
    try {
      if (performance.now() > giveUpAt) throw unavailable("timeout");
      await world.delay(4, 0.02, world.random.pick([50, 3_000, 12_000]));
      const isLost = !process.isAlive && (isEmbedded || world.breaks(0.5));
      if (isLost || world.breaks(0.02)) throw unavailable("rolledBack");
      const state = {
        epoch: head().epoch,
        tip,
        entries,
        remembered,
        epochOf: (seq: number) => epochOf(epochs, seq),
        storedRow: (seq: number) => rows[seq - 1],
        listEpochs: () => epochs,
      };
      const appended = append(state, units, now());
      rows.push(...appended.rows);
      tip = appended.tip;
      world.record(`stored up to ${tip.seq}`);
      onStored(appended.rows);
      return appended;
    } finally {
      unlock();
    }
  }

  /** On the way to a server anything can be lost. The outcome is then known only once it is too late. */
  async function commit(process: Process, units: readonly Unit[], withinMs = waitMsMax) {
    if (!process.isAlive) return never;
    const giveUpAt = performance.now() + Math.min(withinMs, waitMsMax);
    if (world.breaks(0.01)) throw unavailable("unreachable");
    if (isEmbedded) {
      const committed = await transact(process, units, giveUpAt);
      await world.delay(0.5, 0.01, 100);
      return process.isAlive ? committed : never;
    }
    const committing = world.delay(1, 0.01, 4_000).then(() => transact(process, units, giveUpAt));
    if (world.breaks(0.02)) {
      committing.catch(() => {});
      await world.sleep(giveUpAt + clockErrorMs - performance.now());
      return process.isAlive ? Promise.reject(unavailable("unknownOutcome")) : never;
    }
    const committed = await committing;
    await world.delay(1, 0.02, 500);
    return process.isAlive ? committed : never;
  }

  return {
    rows: rows as readonly LedgerRow[],
    head,
    /** A start of an embedded store begins an epoch. */
    begin(): void {
      if (isEmbedded) epochs.push({ epoch: `epoch-${epochs.length}`, fromSeq: tip.seq });
    },
    connect(process: Process): LedgerPort {
      const read = <T>(work: () => T): T | Promise<T> =>
        isEmbedded && process.isAlive ? work() : call(world, process, work);
      return {
        readHead: () => read(head),
        cachedHead: () => (isEmbedded ? head() : undefined),
        readClock: () => read(now),
        isOutdated: () => false,
        ledgerAfter: (seq, rowsMax) => read(() => rows.slice(seq, seq + rowsMax)),
        stockAfter: (seq, rowsMax) => read(() => rows.slice(seq, seq + rowsMax)),
        undoFrom: () => [],
        entriesAfter: (petId, rowsMax) => read(() => entriesFrom(entries, petId).slice(0, rowsMax)),
        listEpochs: () => read(() => [...epochs]),
        listRows: ({ after: seq, upTo }, rowsMax) =>
          read(() => rows.slice(seq, Math.min(upTo, seq + rowsMax)).map(withoutName)),
        commit: (units, withinMs) => commit(process, units, withinMs),
        mayOverlap: (units) => !isEmbedded && units.every(isShareable),
        canWrite: () => true,
      };
    },
  };
}

const withoutName = (row: LedgerRow): NamedRow => ({ ...row, keyName: null });

const entriesFrom = (entries: ReadonlyMap<bigint, Entry>, after: bigint | null) =>
  [...entries.values()].filter(({ petId }) => petId > (after ?? 0n));

function entriesOf(pets: number): Map<bigint, Entry> {
  const ids = Array.from({ length: pets }, (_, at) => BigInt(at + 1));
  return new Map(
    ids.map((petId) => [petId, { petId, quantity: 0, status: "available", version: 0 }]),
  );
}

/** Returns a function that resolves when it is the caller's turn, with a function that ends the turn. */
function createLock(): () => Promise<() => void> {
  let last: Promise<void> = Promise.resolve();
  return () => {
    const before = last;
    const { promise, resolve } = Promise.withResolvers<void>();
    last = promise;
    return before.then(() => resolve);
  };
}

/** Whether a unit may be committed while another is under way. */
const isShareable = ({ changes: [first, second], idempotency }: Unit) =>
  !idempotency && !second && first!.kind === "set" && !first!.expected;
