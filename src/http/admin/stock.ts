import type { NamedEntry } from "../../domain/catalogue/pets.ts";
import type { CatalogueReader } from "../../domain/catalogue/store.ts";
import { outOfRangeMessage } from "../../domain/ledger/changes.ts";
import { formatCursor } from "../../domain/ledger/cursors.ts";
import type { Position } from "../../domain/ledger/epochs.ts";
import { petNotFound } from "../../domain/ledger/inventory.ts";
import type { Change } from "../../domain/ledger/ledger.ts";
import { yieldToEventLoop } from "../../domain/running/background.ts";
import { ServiceError } from "../../domain/running/errors.ts";
import { changeStock } from "../../domain/shop/shop.ts";
import { canonicalText, readAmount, readExpected, readReason } from "../api/change-list.ts";
import { versionedJson } from "../api/changes.ts";
import { identifyRequest, replayedHeaders } from "../api/idempotency.ts";
import { readPetId } from "../api/parameters.ts";
import { compressed, preferredEncoding } from "../messages/encodings.ts";
import type { Reply } from "../messages/reply.ts";
import type { Context } from "../pipeline/context.ts";
import type { Call } from "../pipeline/operation.ts";
import { versionConflict } from "./conflicts.ts";
import { readFields } from "./fields.ts";

/** Entries that are read and written in one turn of the event loop: a few milliseconds of work. */
const sliceEntries = 1_000;

/**
 * Streams all entries with their names. The cursor is read before the first entry, and entries contain
 * absolute values: a client that follows the feed from there has missed nothing.
 *
 * The length of a compressed body can reveal a secret in it to somebody who chooses another part of the
 * body, makes the browser repeat the request and sees the lengths (BREACH). This body contains neither
 * a secret nor anything of the request, and requests from other sites come without the session.
 */
export async function listStock({ store, head, snapshots }: Context, call: Call): Promise<Reply> {
  const { request, head: known } = call;
  const position = known ?? (await head.readHead());
  const encoding = preferredEncoding(request.headers.get("accept-encoding"));
  const headers = {
    Vary: "Accept-Encoding",
    ...(encoding === undefined ? {} : { "Content-Encoding": encoding }),
  };
  if (request.method === "HEAD") return { status: 200, body: new ReadableStream(), headers };
  const body = await snapshots.open(call, async () => {
    const json = stockJson(store.catalogue, position);
    return encoding === undefined ? json : compressed(json, encoding);
  });
  return { status: 200, body, headers };
}

async function* stockJson(
  catalogue: Pick<CatalogueReader, "namedEntriesAfter">,
  position: Position,
): AsyncGenerator<Uint8Array> {
  let text = `{"cursor":"${formatCursor(position)}","entries":[`;
  let after: bigint | null = null;
  for (;;) {
    const entries: readonly NamedEntry[] = await catalogue.namedEntriesAfter(after, sliceEntries);
    if (after !== null && entries.length > 0) text += ",";
    text += entries.map(namedEntryJson).join();
    if (entries.length < sliceEntries) break;
    after = entries.at(-1)!.petId;
    yield Buffer.from(text);
    text = "";
    await yieldToEventLoop();
  }
  yield Buffer.from(`${text}]}`);
}

function namedEntryJson({ petId, name, category, quantity, status, version }: NamedEntry): string {
  const names = `"name":${JSON.stringify(name)},"category":${JSON.stringify(category)}`;
  return `{"petId":${petId},${names},"quantity":${quantity},"status":"${status}","version":${version}}`;
}

/** Changes quantity, status or both of one entry. */
export async function updateStock(context: Context, call: Call): Promise<Reply> {
  const { request, requestId, caller, operation, trace } = call;
  const petId = readPetId(request);
  const sent = await readFields(call);
  const change: Change = {
    petId,
    ...readAmount(sent, invalid),
    expected: readExpected(sent, invalid),
    reason: readReason(sent, invalid),
  };
  const path = operation.path.replace("{petId}", String(petId));
  const key = request.headers.get("idempotency-key");
  const idempotency = identifyRequest(call, key, path, canonicalText([change]));
  const write = {
    requestId,
    signal: request.signal,
    trace,
    cause: "console",
    idempotency,
  } as const;
  const outcome = await changeStock(context, caller, change, write);
  if (outcome.kind === "stored") {
    const reply = { status: 200, body: versionedJson(outcome.entries[0]!) };
    return outcome.isReplayed ? { ...reply, headers: replayedHeaders } : reply;
  }
  const { current, reason } = outcome;
  if (!current) throw new ServiceError("not_found", petNotFound);
  if (reason === "version_mismatch") throw await versionConflict(context, current);
  throw new ServiceError("insufficient_stock", outOfRangeMessage(change, outcome));
}

function invalid(message: string): ServiceError {
  return new ServiceError("invalid_request", message);
}
