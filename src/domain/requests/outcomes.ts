import { ledgerRowJson, type NamedRow } from "../ledger/ledger.ts";
import type { LedgerParts, RowFilter } from "../ledger/store.ts";
import { createAlarm, yieldToEventLoop } from "../running/background.ts";
import { unavailableMessages } from "../running/errors.ts";
import { changesMax, rowsExaminedMax } from "../values/bounds.ts";
import type { RequestRecorder } from "./recorder.ts";
import type { RefusedRow, RequestError, RequestStore } from "./store.ts";

/** What a client can do, by what became of its request. */
export const advice = {
  refused: "Nothing was stored, and nothing will be. The message says what to change.",
  failed: "Nothing was stored, and nothing will be. Send the request again.",
  stored: "The changes are stored. Do not send the request again.",
  unknown: `No error of this request is known, and the last ${rowsExaminedMax.toLocaleString("en")} changes are not from it. It can still be under way: ask again 10 seconds after you sent it. If this stays, it probably changed nothing, is older, or never arrived. Repeat an update only with its Idempotency-Key, or read the entry first.`,
  unsettled:
    "It is not known whether the update was stored, and it may still be. Ask again in a second. Repeat it only with its Idempotency-Key.",
};

export const requestOutcomes = ["refused", "failed", "stored", "unknown"] as const;

/** What became of a request. */
export interface RequestOutcome {
  readonly requestId: string;
  readonly outcome: (typeof requestOutcomes)[number];
  /** What the client can do now. */
  readonly advice: string;
  /** The error that it got, if it is known. */
  readonly error: RequestError | undefined;
  /** The ledger rows that it stored. */
  readonly rows: readonly NamedRow[];
}

export interface OutcomeParts {
  readonly store: Pick<LedgerParts, "history"> & { readonly requests: RequestStore };
  readonly requests: Pick<RequestRecorder, "findUnsaved">;
}

/** How many rows are searched for an update whose response did not say whether it was stored. */
const rowsSearchedMax = 100_000;

/**
 * Finds out what became of a request; with a key, only of its own requests. It never says that nothing was
 * stored of an update that can still be stored.
 */
export async function findOutcome(
  { store, requests }: OutcomeParts,
  requestId: string,
  keyId?: string,
): Promise<RequestOutcome> {
  const found = requests.findUnsaved(requestId) ?? (await store.requests.findRequest(requestId));
  const request = keyId === undefined || found?.keyId === keyId ? found : undefined;
  const error = request?.error;
  const result = (outcome: RequestOutcome["outcome"], rows: readonly NamedRow[] = []) => {
    const isUnsettled = outcome === "unknown" && error;
    return { requestId, outcome, advice: advice[isUnsettled ? "unsettled" : outcome], error, rows };
  };
  if (error && !mayBeStored(error)) return result(error.status < 500 ? "refused" : "failed");
  const isSettled = error !== undefined && (await awaitUpdates(store.requests));
  const { seq } = await store.history.readTip();
  const after = request?.afterSeq ?? Math.max(0, seq - rowsExaminedMax);
  const upTo = Math.min(seq, after + rowsSearchedMax);
  const rows = await findRows(store.history, { requestId, keyId, after, upTo });
  if (rows.length > 0) return result("stored", rows);
  return result(isSettled && upTo === seq ? "failed" : "unknown");
}

/** True for the errors that docs/outcomes.md names. Reads store nothing. */
function mayBeStored({ method, code, message }: RequestError): boolean {
  if (method === "GET" || method === "HEAD") return false;
  return code === "internal_error" || message === unavailableMessages.unknownOutcome;
}

/** How long a disk or a database that hangs may delay the response. */
const patienceMs = 3_000;

/** Stores that are being asked. Each is asked once at a time, because the question takes a connection. */
const asked = new WeakSet<RequestStore>();

/** Returns false if updates may still be under way. */
async function awaitUpdates(requests: RequestStore): Promise<boolean> {
  if (asked.has(requests)) return false;
  asked.add(requests);
  const ended = requests.awaitUpdates().finally(() => asked.delete(requests));
  const late = createAlarm().wait(patienceMs);
  return Promise.race([ended.then(() => true), late.then(() => false)]).catch(() => false);
}

/** A request is stored in one transaction, so its rows follow each other. */
async function findRows(
  history: LedgerParts["history"],
  { after, upTo, ...of }: RowFilter,
): Promise<readonly NamedRow[]> {
  for (let from = after; from < upTo; from += rowsExaminedMax) {
    const range = { after: from, upTo: Math.min(upTo, from + rowsExaminedMax) };
    const [first] = await history.listRows({ ...of, ...range }, 1);
    if (first) {
      const around = { after: first.seq - changesMax, upTo: first.seq + changesMax };
      return history.listRows({ ...of, ...around }, changesMax);
    }
    await yieldToEventLoop();
  }
  return [];
}

/** As the API and the operator API write it. */
export function outcomeJson({ requestId, outcome, advice, error, rows }: RequestOutcome): string {
  const fields = JSON.stringify({ requestId, outcome, advice, error: error ?? null });
  return `${fields.slice(0, -1)},"changes":[${rows.map(ledgerRowJson).join()}]}`;
}

/** As the operator API and the command write it. */
export function refusedRowJson({ seq, requestId, keyId, keyName, error }: RefusedRow): string {
  return JSON.stringify({ seq, requestId, keyId, keyName, ...error });
}
