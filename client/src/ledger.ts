import { readBody, unexpectedResponse } from "./body.js";
import type { Transport } from "./call.js";
import { decodeLedgerHead, decodeLedgerRows } from "./decode-ledger.js";
import { formatId, type Id } from "./id.js";
import { withToJson } from "./json.js";
import { formatInstant, formatSeq, type Instant } from "./moment.js";
import type { CallOptions } from "./options.js";
import { pathWithQuery, readNextPosition } from "./pages.js";
import type { WithResponse } from "./promise.js";
import { sendWithRetries } from "./retry.js";
import type { LedgerHead, LedgerRow } from "./types.js";

/** What caused a change. Later versions of the service can add causes. */
export type Cause = "api" | "import" | "undo" | "console" | "count" | (string & {});

/** The options of `history` and `listHistory`, which `changes` and `listChanges` have too. */
export interface HistoryOptions extends CallOptions {
  /** Rows per page, at most 1,000. Default: 100. */
  readonly limit?: number | undefined;
  /** Only rows with a larger `seq`. */
  readonly after?: number | bigint | undefined;
  /** Only rows with a smaller `seq`. */
  readonly before?: number | bigint | undefined;
  /** Only rows written at this time or later. */
  readonly since?: Instant | undefined;
  /** Only rows written before this time. */
  readonly until?: Instant | undefined;
}

export interface ChangesOptions extends HistoryOptions {
  /** Only rows with this cause. */
  readonly cause?: Cause | undefined;
  /** Only rows written with the API key of this ID. */
  readonly key?: string | undefined;
}

export interface ChangesPage {
  /** In ascending order of `seq`. Can be empty before the last page, if there is a filter. */
  readonly rows: readonly LedgerRow[];
  /** The `after` for the next page, or null on the last page. */
  readonly nextAfter: number | null;
}

export interface HistoryPage {
  /** The newest first. */
  readonly rows: readonly LedgerRow[];
  /** The `before` for the next page, or null on the last page. */
  readonly nextBefore: number | null;
}

export async function listChanges(
  transport: Transport,
  options: ChangesOptions,
): Promise<WithResponse<ChangesPage>> {
  const { cause, key } = options;
  const path = pathWithQuery("/changes", { ...rangeParameters(options), cause, key });
  const call = { operation: "listChanges", method: "GET", path } as const;
  const response = await sendWithRetries(transport, call, options);
  const rows = readBody(response, decodeLedgerRows);
  const next = readNextPosition(response, transport.settings.baseUrl, "after");
  const nextAfter = next === null ? null : Number(next);
  if (nextAfter !== null && nextAfter <= Number(options.after ?? 0)) {
    throw unexpectedResponse(response, "The link to the next page does not lead to later rows");
  }
  return { value: withToJson({ rows, nextAfter }), response };
}

export async function* eachChange(
  transport: Transport,
  options: ChangesOptions,
): AsyncGenerator<LedgerRow, void, undefined> {
  let { after } = options;
  for (;;) {
    const { value: page } = await listChanges(transport, { ...options, after });
    yield* page.rows;
    if (page.nextAfter === null) return;
    after = page.nextAfter;
  }
}

export async function listHistory(
  transport: Transport,
  petId: Id,
  options: HistoryOptions,
): Promise<WithResponse<HistoryPage>> {
  const { before } = options;
  const path = pathWithQuery(
    `/inventory/${formatId("petId", petId)}/history`,
    rangeParameters(options),
  );
  const call = { operation: "listHistory", method: "GET", path } as const;
  const response = await sendWithRetries(transport, call, options);
  const rows = readBody(response, decodeLedgerRows);
  const next = readNextPosition(response, transport.settings.baseUrl, "before");
  const nextBefore = next === null ? null : Number(next);
  if (nextBefore !== null && before !== undefined && nextBefore >= Number(before)) {
    throw unexpectedResponse(response, "The link to the next page does not lead to earlier rows");
  }
  return { value: withToJson({ rows, nextBefore }), response };
}

export async function* eachHistoryRow(
  transport: Transport,
  petId: Id,
  options: HistoryOptions,
): AsyncGenerator<LedgerRow, void, undefined> {
  let { before } = options;
  for (;;) {
    const { value: page } = await listHistory(transport, petId, { ...options, before });
    yield* page.rows;
    if (page.nextBefore === null) return;
    before = page.nextBefore;
  }
}

export async function getLedgerHead(
  transport: Transport,
  options: CallOptions,
): Promise<WithResponse<LedgerHead>> {
  const call = { operation: "getLedgerHead", method: "GET", path: "/changes/head" } as const;
  const response = await sendWithRetries(transport, call, options);
  return { value: readBody(response, decodeLedgerHead), response };
}

function rangeParameters({ limit, after, before, since, until }: HistoryOptions) {
  return {
    limit: limit === undefined ? undefined : String(limit),
    after: after === undefined ? undefined : formatSeq("after", after),
    before: before === undefined ? undefined : formatSeq("before", before),
    since: since === undefined ? undefined : formatInstant("since", since),
    until: until === undefined ? undefined : formatInstant("until", until),
  };
}
