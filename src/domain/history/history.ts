import { petNotFound } from "../ledger/inventory.ts";
import { type NamedRow, seqMax } from "../ledger/ledger.ts";
import {
  type HistoryReader,
  type LedgerParts,
  type Page,
  pageOf,
  type RowFilter,
  type SeqRange,
} from "../ledger/store.ts";
import { yieldToEventLoop } from "../running/background.ts";
import { ServiceError, unavailable } from "../running/errors.ts";
import { versionAtCheckpoint } from "../snapshots/parts.ts";
import type { CheckpointReader } from "../snapshots/store.ts";
import { rowsExaminedMax } from "../values/bounds.ts";

/** What is needed to find earlier rows of a pet. */
type PastParts = Pick<LedgerParts, "history"> & { readonly checkpoints: CheckpointReader };

export const rowsPerPageDefault = 100;
export const rowsPerPageMax = 1_000;

/** Which changes to list, and how many. Times are in milliseconds since 1970. */
interface Range extends SeqRange {
  /** Rows at this time or later. */
  readonly since?: number | undefined;
  /** Rows before this time. */
  readonly until?: number | undefined;
  readonly limit: number;
}

/** One page of the ledger, the oldest row first. Without a cause or key it is full, except the last. */
export async function listChanges(
  { store: { history } }: { readonly store: Pick<LedgerParts, "history"> },
  request: Range & Pick<RowFilter, "cause" | "keyId">,
): Promise<Page<NamedRow>> {
  const { since, until, cause, keyId, limit } = request;
  const isFiltered = cause !== undefined || keyId !== undefined;
  const isBounded = isFiltered || since !== undefined || until !== undefined;
  // Read before the bounds: a row that is added later may be on the wrong side of a bound.
  const last = isBounded ? (await history.readTip()).seq : seqMax;
  const { after, before } = await boundsOf(history, request);
  const end = Math.min(last, before - 1);
  const upTo = isFiltered ? Math.min(end, after + rowsExaminedMax) : end;
  if (after >= upTo) return { rows: [], next: undefined };
  const found = await history.listRows({ after, upTo, cause, keyId }, limit + 1);
  return pageOf(found, limit, upTo < end ? upTo : undefined);
}

/** The range as rows: those with a `seq` between the two. */
async function boundsOf(
  history: HistoryReader,
  { after = 0, before = seqMax, since, until }: Range,
): Promise<{ readonly after: number; readonly before: number }> {
  return {
    after: since === undefined ? after : Math.max(after, await history.seqAt(since - 1)),
    before: until === undefined ? before : Math.min(before, (await history.seqAt(until - 1)) + 1),
  };
}

/**
 * Rows that are read in one turn of the event loop. The rows of a pet are spread over the whole
 * ledger, so each may need a read from the disk.
 */
const rowsAtOnce = 250;

/**
 * One page of a pet's changes, the newest first. Throws `not_found` for an unknown pet. The signal is aborted
 * when nobody waits for the page any more.
 */
export async function listHistory(
  { store }: { readonly store: PastParts },
  petId: bigint,
  request: Range & { readonly signal?: AbortSignal | undefined },
): Promise<Page<NamedRow>> {
  const { history } = store;
  const { limit, signal } = request;
  // Read before the bounds: a row that is added later may be on the wrong side of a bound.
  const found = await history.findEntry(petId);
  // A pet that was removed still has its history.
  const version = found?.entry.version ?? (await history.findRemoval(petId));
  if (version === undefined) throw new ServiceError("not_found", petNotFound);
  const { after, before } = await boundsOf(history, request);
  const pet = { petId, version };
  let next =
    before - 1 > after ? await findRowBefore(store, pet, request.before, before, signal) : 0;
  const rows: NamedRow[] = [];
  while (next > after && rows.length < limit) {
    if (rows.length > 0) await yieldToEventLoop();
    const some = await history.petRows(petId, next, Math.min(rowsAtOnce, limit - rows.length));
    if (some.length === 0) throw unavailable("damaged");
    const wanted = some.findIndex(({ seq }) => seq <= after);
    rows.push(...(wanted < 0 ? some : some.slice(0, wanted)));
    next = wanted < 0 ? (some.at(-1)!.previous ?? 0) : 0;
  }
  return { rows, next: next > after ? rows.at(-1)!.seq : undefined };
}

/** References that are followed in one turn of the event loop. */
const stepsAtOnce = 1_000;

/**
 * The pet's last row before `before`, or 0. Each row refers to the pet's previous one, so the search
 * starts at a row that is known to belong to the pet: `hint` if it is one, as when a client follows
 * the pages. Otherwise the pet's row at the next checkpoint, or its last row.
 */
async function findRowBefore(
  { history, checkpoints }: PastParts,
  { petId, version }: { readonly petId: bigint; readonly version: number },
  hint: number | undefined,
  before: number,
  signal: AbortSignal | undefined,
): Promise<number> {
  if (version < before) return version;
  const [hinted] = hint === undefined ? [] : await history.petRows(petId, hint, 1);
  let seq = hinted
    ? (hinted.previous ?? 0)
    : ((await versionAtCheckpoint(checkpoints, petId, before)) ?? version);
  while (seq >= before) {
    seq = await history.petRowBefore(petId, seq, before, stepsAtOnce);
    if (signal?.aborted) return 0;
    await yieldToEventLoop();
  }
  return seq;
}
