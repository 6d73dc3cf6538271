import { setTimeout as sleep } from "node:timers/promises";
import { rowsPerPageMax } from "../domain/history/history.ts";
import { isInHistory } from "../domain/ledger/epochs.ts";
import type { NamedRow } from "../domain/ledger/ledger.ts";
import type { Head } from "../domain/ledger/store.ts";
import { ServiceError, unavailable } from "../domain/running/errors.ts";
import type { Store } from "../domain/store.ts";
import { printError } from "../output.ts";
import { unwatchSignals } from "./interruption.ts";

/** How late a row may be printed. Only SQLite knows without a query that nothing was written. */
const pollEveryMs = 250;

type LedgerStore = Pick<Store, "inventory" | "history">;

/** Yields the rows after `after`, then every row that any process commits, until `signal` is aborted. */
export function followLedger(store: LedgerStore, after: number, signal: AbortSignal) {
  return follow(createReader(store, after), signal);
}

/**
 * Yields what `readNew` returns, again and again, until `signal` is aborted. Continues after the store was
 * unreachable, and says so on standard error.
 */
export async function* follow<Row>(
  readNew: () => Promise<readonly Row[]>,
  signal: AbortSignal,
): AsyncGenerator<readonly Row[]> {
  // The first read fails like that of any other command.
  let rows = await readNew();
  // Also if it is empty, so that the titles of the table show that the command is running.
  yield rows;
  let isReachable = true;
  while (!signal.aborted) {
    if (rows.length === 0) await sleep(pollEveryMs, undefined, { signal }).catch(() => {});
    try {
      rows = await readNew();
    } catch (error) {
      if (!(error instanceof ServiceError && error.code === "unavailable")) throw error;
      if (isReachable) printError("the store cannot be read; the command keeps trying");
      isReachable = false;
      rows = [];
      continue;
    }
    if (!isReachable) printError("the store can be read again");
    isReachable = true;
    if (rows.length > 0) yield rows;
  }
}

/** Returns a function that reads the rows which were added since its last call. */
function createReader({ inventory, history }: LedgerStore, after: number) {
  let last = after;
  let seen: Head | undefined;

  /** Every service that starts begins an epoch. Only a restore removes rows from the ledger. */
  async function assertContinued(head: Head): Promise<void> {
    if (!inventory.canWrite()) throw replaced();
    if (!seen || (head.epoch === seen.epoch && head.seq >= seen.seq)) return;
    if (!isInHistory(await inventory.listEpochs(), head.seq, seen)) throw replaced();
  }

  return async (): Promise<readonly NamedRow[]> => {
    const head = inventory.cachedHead() ?? (await inventory.readHead());
    await assertContinued(head);
    seen = head;
    if (head.seq <= last) return [];
    const upTo = Math.min(head.seq, last + rowsPerPageMax);
    const rows = await history.listRows({ after: last, upTo }, rowsPerPageMax);
    if (rows.at(-1)?.seq !== upTo) throw unavailable("damaged");
    last = upTo;
    return rows;
  };
}

function replaced(): ServiceError {
  return new ServiceError(
    "gone",
    "the store was replaced by another one or by a backup; start the command again",
  );
}

/** How long a stopped command waits for a reader that has stopped reading. */
const stopGraceMs = 500;

/** Aborted by the first SIGINT or SIGTERM. A second one ends the process at once. */
export function untilSignal(): AbortSignal {
  unwatchSignals();
  const stopping = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"]) {
    process.once(signal, () => {
      stopping.abort();
      setTimeout(() => process.exit(0), stopGraceMs).unref();
    });
  }
  return stopping.signal;
}
