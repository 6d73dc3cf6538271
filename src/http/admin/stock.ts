import type { NamedEntry } from "../../domain/catalogue/pets.ts";
import type { CatalogueReader } from "../../domain/catalogue/store.ts";
import { countAhead, countOutdated, outOfRangeMessage } from "../../domain/ledger/changes.ts";
import { formatCursor } from "../../domain/ledger/cursors.ts";
import type { Position } from "../../domain/ledger/epochs.ts";
import { petNotFound } from "../../domain/ledger/inventory.ts";
import type { Change } from "../../domain/ledger/ledger.ts";
import { yieldToEventLoop } from "../../domain/running/background.ts";
import { ServiceError } from "../../domain/running/errors.ts";
import { changeStock } from "../../domain/shop/shop.ts";
import {
  canonicalText,
  countedAtRule,
  oneAmountRule,
  readAmount,
  readExpected,
  readReason,
  statusRule,
} from "../api/change-list.ts";
import { exampleShortage, versionedJson } from "../api/changes.ts";
import { json } from "../api/contract/operation.ts";
import { mergePatchBody } from "../api/operation.ts";
import {
  idempotencyKeyParameter,
  identifyRequest,
  petIdParameter,
  readPetId,
  replayedHeaders,
} from "../api/parameters.ts";
import { compressed, preferredEncoding } from "../messages/encodings.ts";
import { exampleConflict, versionConflict } from "./conflicts.ts";
import { exampleStock } from "./contract/stock-schemas.ts";
import { bodyMessages, readFields } from "./fields.ts";
import type { AdminDeclaration } from "./operation.ts";

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
const listStock: AdminDeclaration = {
  method: "GET",
  path: "/stock",
  contract: {
    summary: "List the stock",
    description: `Returns the stock of all pets with their names. It includes every change that was confirmed before the request.

To keep a copy up to date, follow the feed (\`GET /changes\` with \`Accept: text/event-stream\`) after the \`cursor\`. It may repeat changes that the list already contains, but it misses none.

The response is streamed, and compressed if the client accepts that. If the service fails while it sends the response, it closes the connection, and the JSON text is incomplete.`,
    success: {
      200: json("The stock.", "StockList", {
        headers: ["Vary", "Content-Encoding"],
        examples: {
          stock: { summary: "One pet", value: exampleStock },
          empty: { summary: "No pets", value: { ...exampleStock, entries: [] } },
        },
      }),
    },
  },
  async handle({ store, head, snapshots }, call) {
    const { request, head: known } = call;
    const position = known ?? (await head.readHead());
    const encoding = preferredEncoding(request.headers.get("accept-encoding"));
    const headers = {
      Vary: "Accept-Encoding",
      ...(encoding === undefined ? {} : { "Content-Encoding": encoding }),
    };
    const body = await snapshots.open(call, async () => {
      const json = stockJson(store.catalogue, position);
      return encoding === undefined ? json : compressed(json, encoding);
    });
    return { status: 200, body, headers };
  },
};

/** Changes quantity, status or both of one entry. */
const updateStock: AdminDeclaration = {
  method: "PATCH",
  path: "/stock/{petId}",
  body: mergePatchBody,
  contract: {
    summary: "Change the stock of a pet",
    description:
      "Changes the quantity, the status or both of one pet. The response is sent after the change is stored durably. If the entry does not have the `expectedVersion`, nothing is changed, and the message says what is stored now and who changed it.",
    parameters: [petIdParameter, idempotencyKeyParameter],
    body: json("The change.", "StockUpdate", {
      examples: {
        count: {
          summary: "A count with a condition",
          value: { quantity: 12, expectedVersion: 1207, reason: "Stocktake" },
        },
        sold: { summary: "A new status", value: { status: "sold" } },
      },
    }),
    success: {
      200: json("The entry after the change.", "VersionedItem", {
        headers: ["Idempotent-Replayed"],
      }),
    },
    errors: ["idempotency_key_reused"],
    messages: {
      invalid_request: {
        ...bodyMessages,
        one_amount: oneAmountRule,
        invalid_status: statusRule,
        invalid_counted_at: countedAtRule,
        count_ahead: countAhead,
      },
      not_found: { not_found: petNotFound },
      insufficient_stock: { insufficient_stock: exampleShortage },
      version_conflict: { version_conflict: exampleConflict, count_outdated: countOutdated },
    },
  },
  async handle(context, call) {
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
  },
};

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

function invalid(message: string): ServiceError {
  return new ServiceError("invalid_request", message);
}

export const stockOperations = { listStock, updateStock };
