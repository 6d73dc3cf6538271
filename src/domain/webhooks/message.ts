import { hash } from "node:crypto";
import { formatCursor } from "../ledger/cursors.ts";
import type { Position } from "../ledger/epochs.ts";
import { ledgerRowJson, type NamedRow } from "../ledger/ledger.ts";
import type { LedgerTail } from "../ledger/tail.ts";
import { monotonicMs as systemMs, yieldToEventLoop } from "../running/background.ts";
import type { Pacer } from "../running/pacer.ts";
import { randomId } from "../values/base62.ts";
import type { Matcher } from "./filter.ts";
import { sign, signingSecrets } from "./secrets.ts";
import type { WebhookAnswer } from "./sender.ts";
import type { Webhook, WebhookAttempt } from "./webhook.ts";

/** What a webhook sends in one request: changes, or a test. Equal in every attempt. */
export interface Message {
  readonly id: string;
  readonly body: string;
  /** The first and the last change, and their number. All 0 for a test. */
  readonly firstSeq: number;
  readonly lastSeq: number;
  readonly changes: number;
}

const changesMax = 100;
const bodyBytesMax = 20_000;
/** The rest of the body, besides the changes. A cursor has at most 200 characters. */
const envelopeBytes = 400;

/** The JSON of rows. Several webhooks send the same ones, which the tail of the ledger shares. */
const rowTexts = new WeakMap<NamedRow, string>();

function textOf(row: NamedRow): string {
  const known = rowTexts.get(row);
  if (known !== undefined) return known;
  const text = ledgerRowJson(row);
  rowTexts.set(row, text);
  return text;
}

/** What was found in the ledger after a row. */
export interface Scan {
  /** Undefined if no change was wanted. */
  readonly message: Message | undefined;
  /** The last row that was examined. It is in the message, unless the filter excludes it. */
  readonly upTo: number;
  /** False if there may be more changes to send now. */
  readonly isAtEnd: boolean;
}

export interface ScanParts {
  readonly tail: Pick<LedgerTail, "rowsAfter" | "positionAt">;
  /** Not for a short scan that somebody waits for. */
  readonly pacer?: Pacer;
  readonly monotonicMs?: () => number;
  readonly signal: AbortSignal;
}

const unpaced: Pacer = { turn: yieldToEventLoop, spend: () => false };

type MessageOwner = Pick<Webhook, "id" | "replays" | "filter">;

/** After this many rows, a message is sent even if it is not full. */
const rowsExaminedMax = 10_000;

/**
 * Reads the ledger from a row on until a message is full, the ledger ends, or many rows were
 * examined. Examines one page of rows per turn of the pacer. To make an earlier message again, pass its id,
 * and a tail that ends with its last row. There is no message if the rows do not make the same one.
 */
export async function scanLedger(
  { tail, pacer = unpaced, monotonicMs = systemMs, signal }: ScanParts,
  webhook: MessageOwner,
  matcher: Matcher,
  after: number,
  earlierId?: string,
): Promise<Scan> {
  const rowsMax = earlierId === undefined ? rowsExaminedMax : Infinity;
  const wanted: NamedRow[] = [];
  let bytes = envelopeBytes;
  let upTo = after;
  let isAtEnd = false;
  let isFull = false;
  while (!isAtEnd && !isFull && upTo - after < rowsMax && !signal.aborted) {
    await pacer.turn();
    const rows = await tail.rowsAfter(upTo);
    const startedAt = monotonicMs();
    const matches = await matcher(rows);
    isAtEnd = rows.length === 0;
    for (const row of rows) {
      if (matches(row)) {
        bytes += Buffer.byteLength(textOf(row)) + 1;
        // A change that alone exceeds the bound is sent on its own, because it must not be skipped.
        isFull = wanted.length === changesMax || (bytes > bodyBytesMax && wanted.length > 0);
        if (isFull) break;
        wanted.push(row);
      }
      upTo = row.seq;
    }
    pacer.spend(monotonicMs() - startedAt);
  }
  const message =
    wanted.length > 0 ? messageOf(webhook, wanted, tail.positionAt, earlierId) : undefined;
  return { message, upTo, isAtEnd };
}

function messageOf(
  webhook: MessageOwner,
  rows: readonly NamedRow[],
  positionAt: (seq: number) => Position,
  earlierId: string | undefined,
): Message | undefined {
  const first = rows[0]!;
  const last = rows.at(-1)!;
  const cursors = [first, last].map(({ seq }) => formatCursor(positionAt(seq)));
  const id = idsOf(webhook, rows, cursors).find((one) => one === (earlierId ?? one));
  if (id === undefined) return undefined;
  const body = bodyOf("inventory.changed", last.at, rows, cursors[1]!);
  return { id, body, firstSeq: first.seq, lastSeq: last.seq, changes: rows.length };
}

/** How many replays back a message is recognized. */
const replaysKnownMax = 1_000;

/**
 * The id of a message, then those that it had before each replay. The first is equal for every attempt, so
 * that receivers recognize a repeated message. A replay has another id, and so have other changes, if a
 * threshold has changed between two attempts.
 */
function* idsOf(
  { id, replays, filter }: MessageOwner,
  rows: readonly NamedRow[],
  cursors: readonly string[],
): Generator<string, undefined> {
  const seqs = filter.becomesLow ? rows.map(({ seq }) => seq) : [];
  for (let replay = replays; replay >= Math.max(0, replays - replaysKnownMax); replay--) {
    const digest = hash("sha256", [id, replay, ...cursors, ...seqs].join(" "));
    yield `msg_${digest.slice(0, 32)}`;
  }
}

/** A message without changes. Receivers that do not know its type find nothing to do. */
export function testMessageOf({ cursor }: Webhook, now: number): Message {
  const body = bodyOf("test", now, [], formatCursor(cursor));
  return { id: randomId("msg_"), body, firstSeq: 0, lastSeq: 0, changes: 0 };
}

function bodyOf(type: string, at: number, rows: readonly NamedRow[], cursor: string): string {
  const data = `{"changes":[${rows.map(textOf).join(",")}],"cursor":"${cursor}"}`;
  return `{"type":"${type}","timestamp":"${new Date(at).toISOString()}","data":${data}}`;
}

/** The attempt that the delivery log keeps. */
export function attemptOf(message: Message, at: number, result: WebhookAnswer): WebhookAttempt {
  const { id: messageId, firstSeq, lastSeq, changes } = message;
  const { durationMs, status, error, text: answer } = result;
  return { at, messageId, firstSeq, lastSeq, changes, durationMs, status, error, answer };
}

/** The headers of one attempt, with one signature for each secret that is valid. */
export function headersOf(
  { id, body }: Message,
  { secrets }: Pick<Webhook, "secrets">,
  now: number,
  userAgent: string,
): Record<string, string> {
  const timestamp = Math.floor(now / 1_000);
  const signatures = signingSecrets(secrets, now).map((secret) =>
    sign(secret, `${id}.${timestamp}.${body}`),
  );
  return {
    "content-type": "application/json",
    "user-agent": userAgent,
    "webhook-id": id,
    "webhook-timestamp": String(timestamp),
    "webhook-signature": signatures.join(" "),
  };
}
