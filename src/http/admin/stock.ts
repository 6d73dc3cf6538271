import type { NamedEntry } from "../../domain/catalogue/pets.ts";
import { outOfRangeMessage } from "../../domain/ledger/changes.ts";
import { formatCursor } from "../../domain/ledger/cursors.ts";
import { petNotFound } from "../../domain/ledger/inventory.ts";
import type { Change } from "../../domain/ledger/ledger.ts";
import { yieldToEventLoop } from "../../domain/running/background.ts";
import type { MaybePromise } from "../../domain/running/clock.ts";
import { invalidRequest, ServiceError } from "../../domain/running/errors.ts";
import { firstPaceDay, type PetNumber, paceDays } from "../../domain/sales/sales.ts";
import { changeStock } from "../../domain/shop/shop.ts";
import {
  canonicalText,
  oneAmountRule,
  readAmount,
  readExpected,
  readReason,
  statusRule,
  versionedJson,
} from "../api/change-list.ts";
import { exampleShortage } from "../api/changes.ts";
import { json } from "../api/contract/contract.ts";
import { mergePatchBody } from "../api/declaration.ts";
import { petIdParameter } from "../api/parameters.ts";
import { compressed, preferredEncoding } from "../messages/encodings.ts";
import { bodyMessages, textOf } from "../messages/fields.ts";
import { replayedHeaders } from "../messages/headers.ts";
import type { Reply } from "../messages/reply.ts";
import { readPetId } from "../messages/requests.ts";
import type { Context } from "../pipeline/context.ts";
import type { Call } from "../pipeline/operation.ts";
import type { AdminDeclaration } from "./admin-declaration.ts";
import { exampleConflict, versionConflict } from "./conflicts.ts";
import { exampleStock } from "./contract/stock-schemas.ts";
import { petNameFields } from "./pets.ts";

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
  async handle(context, call) {
    const position = call.head ?? (await context.head.readHead());
    const { namedEntriesAfter } = context.store.catalogue;
    const start = `{"cursor":"${formatCursor(position)}","entries":[`;
    const read = (after: bigint | null) => namedEntriesAfter(after, sliceEntries);
    return streamed(context, call, listJson(start, read, namedEntryJson));
  },
};

const listSales: AdminDeclaration = {
  method: "GET",
  path: "/sales",
  contract: {
    summary: "List what was sold",
    description: `Returns how many of each pet were sold in the last ${paceDays} days, for an estimate how long the stock lasts. A sale is a change by API that lowers a quantity. Deliveries, counts, imports and undo are none. The service adds new changes within seconds.

The response is streamed, as for \`GET /stock\`.`,
    success: { 200: json("The sales.", "SalesList", { headers: ["Vary", "Content-Encoding"] }) },
  },
  async handle(context, call) {
    const { sales, history, inventory } = context.store;
    const { at } = await history.readTip();
    // The times of the ledger do not go back with the clock.
    const firstDay = firstPaceDay(Math.max(at, await inventory.readClock()));
    const start = `{"days":${paceDays},"pets":[`;
    const read = (after: bigint | null) => sales.soldAfter(after, firstDay, sliceEntries);
    const toJson = ({ petId, value }: PetNumber) => `{"petId":${petId},"sold":${value}}`;
    return streamed(context, call, listJson(start, read, toJson));
  },
};

/** Streams a list, compressed if the client accepts that. */
async function streamed(
  { snapshots }: Context,
  { request, caller }: Call,
  json: AsyncIterable<Uint8Array>,
): Promise<Reply> {
  const encoding = preferredEncoding(request.headers.get("accept-encoding"));
  const headers = { Vary: "Accept-Encoding", ...(encoding && { "Content-Encoding": encoding }) };
  const body = await snapshots.open({ request, caller }, async () =>
    encoding === undefined ? json : compressed(json, encoding),
  );
  return { status: 200, body, headers };
}

/** Changes quantity, status or both of one entry. */
const updateStock: AdminDeclaration = {
  method: "PATCH",
  path: "/stock/{petId}",
  body: mergePatchBody,
  kind: "stock",
  contract: {
    summary: "Change the stock of a pet",
    description:
      "Changes the quantity, the status or both of one pet. The response is sent after the change is stored durably. If the entry does not have the `expectedVersion`, nothing is changed, and the message says what is stored now and who changed it.",
    parameters: [petIdParameter],
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
      200: json("The entry after the change.", "VersionedItem"),
    },
    messages: {
      invalid_request: { ...bodyMessages, one_amount: oneAmountRule, invalid_status: statusRule },
      not_found: { not_found: petNotFound },
      insufficient_stock: { insufficient_stock: exampleShortage },
      version_conflict: { version_conflict: exampleConflict },
    },
  },
  async run(context, call, fields) {
    const { request, requestId, caller, trace } = call;
    const petId = readPetId(textOf(fields, "petId"));
    const change: Change = {
      petId,
      ...readAmount(fields, invalidRequest),
      expected: readExpected(fields, invalidRequest),
      reason: readReason(fields, invalidRequest),
    };
    const idempotency = call.identify(canonicalText([change]));
    const { signal } = request;
    const write = { requestId, signal, trace, cause: "console", idempotency } as const;
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

/** The pages of a list as JSON, one in each turn of the event loop. */
async function* listJson<T extends { readonly petId: bigint }>(
  start: string,
  read: (after: bigint | null) => MaybePromise<readonly T[]>,
  toJson: (row: T) => string,
): AsyncGenerator<Uint8Array> {
  let text = start;
  let after: bigint | null = null;
  for (;;) {
    const rows: readonly T[] = await read(after);
    if (after !== null && rows.length > 0) text += ",";
    text += rows.map(toJson).join();
    if (rows.length < sliceEntries) break;
    after = rows.at(-1)!.petId;
    yield Buffer.from(text);
    text = "";
    await yieldToEventLoop();
  }
  yield Buffer.from(`${text}]}`);
}

function namedEntryJson(entry: NamedEntry): string {
  const { quantity, status, version } = entry;
  return `{${petNameFields(entry)},"quantity":${quantity},"status":"${status}","version":${version}}`;
}

export const stockOperations = { listStock, listSales, updateStock };
