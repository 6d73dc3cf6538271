import { hash } from "node:crypto";
import { formatCursor } from "../ledger/cursors.ts";
import type { Position } from "../ledger/epochs.ts";
import { ledgerRowJson, type NamedRow } from "../ledger/ledger.ts";
import { sign, signingSecrets } from "./secrets.ts";
import type { Webhook } from "./webhook.ts";

/** The changes that a webhook sends in one request. Equal in every attempt. */
export interface Message {
  readonly id: string;
  readonly body: string;
  /** The first and the last change. */
  readonly first: Position;
  readonly last: Position;
  readonly changes: number;
}

const changesMax = 100;
const bodyBytesMax = 20_000;
/** The rest of the body, besides the changes. A cursor has at most 200 characters. */
const envelopeBytes = 400;

/** Gathers the changes of a message while they fit. */
export interface Batch {
  readonly isEmpty: boolean;
  /** Returns false, and adds nothing, if the message would be too large. */
  add(row: NamedRow): boolean;
  /** The message of a batch that is not empty. */
  toMessage(webhook: Webhook, positionAt: (seq: number) => Position): Message;
}

/** The JSON of rows. Several webhooks send the same ones, which the tail of the ledger shares. */
const rowTexts = new WeakMap<NamedRow, string>();

function textOf(row: NamedRow): string {
  const known = rowTexts.get(row);
  if (known !== undefined) return known;
  const text = ledgerRowJson(row);
  rowTexts.set(row, text);
  return text;
}

export function createBatch(): Batch {
  const rows: NamedRow[] = [];
  const texts: string[] = [];
  let bytes = envelopeBytes;
  return {
    get isEmpty() {
      return rows.length === 0;
    },
    add(row) {
      if (rows.length === changesMax) return false;
      const text = textOf(row);
      const added = Buffer.byteLength(text) + 1;
      // A change that alone exceeds the bound is sent on its own, because it must not be skipped.
      if (bytes + added > bodyBytesMax && rows.length > 0) return false;
      bytes += added;
      rows.push(row);
      texts.push(text);
      return true;
    },
    toMessage(webhook, positionAt) {
      const first = positionAt(rows[0]!.seq);
      const last = positionAt(rows.at(-1)!.seq);
      const timestamp = new Date(rows.at(-1)!.at).toISOString();
      const data = `{"changes":[${texts.join(",")}],"cursor":"${formatCursor(last)}"}`;
      return {
        id: messageId(webhook, first, last),
        body: `{"type":"inventory.changed","timestamp":"${timestamp}","data":${data}}`,
        first,
        last,
        changes: rows.length,
      };
    },
  };
}

/** Equal for every attempt, so that receivers recognize a repeated message. A replay has another id. */
function messageId({ id, replays }: Webhook, first: Position, last: Position): string {
  const text = [id, replays, formatCursor(first), formatCursor(last)].join(" ");
  return `msg_${hash("sha256", text).slice(0, 32)}`;
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
