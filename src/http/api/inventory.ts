import { petNotFound, petStatuses } from "../../domain/ledger/inventory.ts";
import type { VersionedEntry } from "../../domain/ledger/store.ts";
import { invalidRequest, ServiceError, unavailableMessages } from "../../domain/running/errors.ts";
import { quantityOutcome, setQuantity } from "../../domain/shop/shop.ts";
import { entryJson } from "../list/chunks.ts";
import { compressedBytesMin } from "../list/encodings.ts";
import type { ListVersion } from "../list/list.ts";
import { preferredEncoding } from "../messages/encodings.ts";
import { entryChanged, ifMatchInvalid, listChanged } from "../messages/error-messages.ts";
import { errorReply } from "../messages/errors.ts";
import {
  createTemplate,
  entryTag,
  expectedVersions,
  type HeaderTemplate,
  idempotencyKeyIn,
  identifyRequest,
  isTagList,
  replayedHeaders,
  satisfiesIfMatch,
  satisfiesIfNoneMatch,
  tagListPattern,
} from "../messages/headers.ts";
import type { Reply } from "../messages/reply.ts";
import { readJsonText, readPetId } from "../messages/requests.ts";
import { identifyAgain, isStillCaller } from "../pipeline/authentication.ts";
import type { Context } from "../pipeline/context.ts";
import type { Call } from "../pipeline/operation.ts";
import { json, jsonList, type Parameter } from "./contract/contract.ts";
import { exampleItem, exampleItems, exampleUpdate } from "./contract/examples.ts";
import { int64, petStatus, quantity, responseObject, type Schema } from "./contract/schema.ts";
import { type Declaration, mergePatchBody } from "./declaration.ts";
import * as parameters from "./parameters.ts";

export const inventorySchemas: Readonly<Record<string, Schema>> = {
  PetStatus: {
    type: "string",
    enum: petStatuses,
    description:
      "The sales status of a pet: `available` for sale, `pending` while a sale is in progress, or `sold`.",
  },
  InventoryItem: responseObject(
    "The stock of one pet.",
    {
      petId: int64("The ID of the pet. It can be larger than 2^53."),
      quantity: quantity("The number in stock."),
      status: petStatus("The status of the pet. Stock updates do not change it."),
    },
    exampleItem,
  ),
  InventoryUpdate: {
    type: "object",
    description: "A new stock count for one pet. Unknown fields are ignored.",
    required: ["quantity"],
    properties: {
      quantity: quantity(
        "The new number in stock: the total, not a difference. `5`, `5.0` and `5e0` are the same integer.",
      ),
    },
    examples: [exampleUpdate],
  },
};

const changedMessage = {
  precondition_failed: entryChanged({ quantity: 12, version: 1207 }, '"k3v9x2-1207"'),
};

function ifMatch(description: string, example = "*"): Parameter {
  return { name: "If-Match", in: "header", description, schema: { type: "string" }, example };
}

function entryIfMatch(description: string, example?: string): Parameter {
  const schema = { type: "string", pattern: tagListPattern };
  return {
    ...ifMatch(description, example),
    schema,
    messages: { invalid_if_match: ifMatchInvalid },
  };
}

function ifNoneMatch(thing: string): Parameter {
  return {
    name: "If-None-Match",
    in: "header",
    description: `The \`ETag\` of the ${thing} that you already have, including the quotes. Separate several values with commas.`,
    schema: { type: "string" },
    example: '"k3v9x2-1207"',
  };
}

/** A cache that others share must not store the stock. */
const cacheControl = "private, no-cache";

const listInventory: Declaration = {
  method: "GET",
  path: "/inventory",
  scope: "inventory:read",
  stability: "stable",
  cacheControl,
  contract: {
    summary: "List inventory",
    description: `Returns the whole inventory: one entry for each pet, by ascending \`petId\`. There is no pagination and no filter.

The list is never stale. It includes every update that was confirmed before you sent the request.

To poll efficiently, save the \`ETag\` of the last response and send it in \`If-None-Match\`. If nothing has changed, the response is a 304 without a body. A 304 counts as a request.

The service can compress large lists with zstd, br or gzip if \`Accept-Encoding\` in the request allows it. Most HTTP libraries handle this automatically.`,
    parameters: [
      ifNoneMatch("list"),
      ifMatch(
        "The `ETag` that the list must have, or `*` for any. If the list has a different `ETag`, the response is 412.",
      ),
    ],
    success: {
      200: jsonList("The inventory.", "InventoryItem", {
        headers: ["ETag", "Vary", "Content-Encoding"],
        examples: { two_pets: exampleItems, empty: { summary: "No pets", value: [] } },
      }),
      304: {
        description: "The list still has the `ETag` that you sent.",
        headers: ["ETag", "Vary"],
      },
    },
    errors: ["precondition_failed"],
  },
  handle(context, call) {
    const wait = context.follower.catchUp(call.head);
    return wait ? wait.then(() => currentList(context, call)) : currentList(context, call);
  },
};

/** Replies with the published list. It must not wait, because the list could change meanwhile. */
function currentList({ list }: Context, call: Call): Reply {
  const { headers, method } = call.request;
  const version = list.versions.current();
  const { tag } = version;
  const expected = headers.get("if-match");
  if (expected !== null && !satisfiesIfMatch(expected, tag)) {
    return errorReply("precondition_failed", listChanged, { ETag: `"${tag}"` });
  }
  const known = headers.get("if-none-match");
  const isShort = version.byteLength < compressedBytesMin;
  const encoding = isShort ? undefined : preferredEncoding(headers.get("accept-encoding"));
  if (known !== null && satisfiesIfNoneMatch(known, tag)) {
    const isEncoded = encoding && list.encodings.has(version, encoding);
    const etag = isEncoded ? `"${tag}-${encoding}"` : `"${tag}"`;
    return { status: 304, body: null, headers: { ETag: etag, ...listHeaders } };
  }
  const compressed = encoding && list.encodings.find(version, encoding);
  if (encoding && compressed) {
    const encoded = { ETag: `"${tag}-${encoding}"`, "Content-Encoding": encoding, ...listHeaders };
    return { status: 200, body: compressed, headers: encoded };
  }
  if (method === "HEAD") {
    const length = { "Content-Length": String(version.byteLength) };
    return { status: 200, body: null, headers: { ETag: `"${tag}"`, ...length, ...listHeaders } };
  }
  const body = list.bodies.bodyOf(version, call.request, call.caller.keyId);
  return {
    status: 200,
    body,
    streamBytes: version.byteLength,
    template: listTemplate(version, call),
  };
}

/** Caches may store the list but must revalidate it, so that a client never sees an old one. */
const listHeaders = { "Cache-Control": cacheControl, Vary: "Accept-Encoding" };

/** The template of the list that was sent last. */
let lastSent: { tag: string; headers: Call["operation"]["headers"]; template: HeaderTemplate };

function listTemplate({ tag }: ListVersion, { operation: { headers } }: Call): HeaderTemplate {
  if (lastSent?.tag !== tag || lastSent.headers !== headers) {
    const template = createTemplate({ ...headers, ETag: `"${tag}"`, ...listHeaders });
    lastSent = { tag, headers, template };
  }
  return lastSent.template;
}

const getInventory: Declaration = {
  method: "GET",
  path: "/inventory/{petId}",
  scope: "inventory:read",
  stability: "beta",
  cacheControl,
  contract: {
    summary: "Get the stock of a pet",
    description: `Returns the inventory entry of one pet. The entry is never stale: it includes every update that was confirmed before you sent the request.

\`ETag\` names the version of the entry. It changes with every update. Send the whole tag, quotes included, in \`If-Match\` with an update, so that the update fails if the entry has changed since you read it.`,
    parameters: [
      parameters.petIdParameter,
      ifNoneMatch("entry"),
      entryIfMatch(
        "The whole `ETag` that the entry must have, quotes included, or `*` for any. If the entry has a different `ETag`, the response is 412.",
      ),
    ],
    success: {
      200: json("The entry.", "InventoryItem", {
        headers: ["ETag"],
        examples: { entry: { summary: "Twelve in stock", value: exampleItem } },
      }),
      304: { description: "The entry still has the `ETag` that you sent.", headers: ["ETag"] },
    },
    errors: ["not_found"],
    messages: { precondition_failed: changedMessage },
  },
  /** Reads the store, not the list in memory, because only the store knows the epoch of a version. */
  async handle({ store }, { request }) {
    const petId = readPetId(request.params?.petId);
    const expected = readIfMatch(request.headers);
    const current = await store.history.findEntry(petId);
    if (!current) throw new ServiceError("not_found", petNotFound);
    const tag = entryTag(current);
    if (expected !== null && !satisfiesIfMatch(expected, tag)) return preconditionFailed(current);
    const known = request.headers.get("if-none-match");
    if (known !== null && satisfiesIfNoneMatch(known, tag)) {
      return { status: 304, body: null, headers: { ETag: `"${tag}"` } };
    }
    return { status: 200, body: entryJson(current.entry.petId, current.entry), etag: `"${tag}"` };
  },
};

const updateInventory: Declaration = {
  method: "PATCH",
  path: "/inventory/{petId}",
  scope: "inventory:write",
  stability: "experimental",
  kind: "stock",
  body: mergePatchBody,
  contract: {
    summary: "Update the stock of a pet",
    description: `Sets the stock count of one pet, for example after a delivery, a return or a stocktake. The new count replaces the old one. The status of the pet does not change.

The response is sent after the update is stored durably. Every list that is requested after the response includes the update. You can send the current count again: the service records it as a confirmation.

Two optional headers make updates safe. \`If-Match\` prevents an update from overwriting a change that you have not seen. \`Idempotency-Key\` lets you send a request again when its response was lost. A repeated request returns the result of the first one, even if the entry has changed since.

*Experimental:* the request format can still change. See \`X-Stability\`.`,
    parameters: [
      parameters.petIdParameter,
      entryIfMatch(
        "The whole `ETag` that the entry must have, quotes included, or `*` for any. Separate several values with commas. If the entry has a different `ETag`, the response is 412, with the current quantity, version and `ETag`. Weak tags never match.",
        '"k3v9x2-1207"',
      ),
      parameters.idempotencyKeyParameter,
      parameters.reasonParameter,
    ],
    body: json(
      "The new count. The body can have at most 64 KiB. It can also be sent as `application/merge-patch+json`, or without a `Content-Type`.",
      "InventoryUpdate",
      {
        examples: {
          arrival: { summary: "Twelve in stock", value: exampleUpdate },
          sold_out: { summary: "Out of stock", value: { quantity: 0 } },
        },
      },
    ),
    success: {
      200: json("The updated entry.", "InventoryItem", {
        headers: ["ETag", "Idempotent-Replayed"],
        examples: { updated: { summary: "The new count", value: exampleItem } },
      }),
    },
    errors: ["not_found", "idempotency_key_reused"],
    messages: {
      invalid_request: {
        invalid_quantity: parameters.quantityInvalid,
        missing_quantity: parameters.quantityMissing,
      },
      precondition_failed: changedMessage,
      unavailable: { too_many_updates: unavailableMessages.tooManyUpdates },
    },
  },
  async handle(context, call) {
    const { requestId, request, caller, operation, trace } = call;
    const keysVersion = call.authenticator.version?.();
    const petId = readPetId(request.params?.petId);
    const { headers, signal } = request;
    const ifMatch = readIfMatch(headers);
    const key = idempotencyKeyIn(request);
    const reason = parameters.parseReason(headers.get("x-change-reason"));
    const quantity = parameters.parseStockUpdate(await readJsonText(request, operation));
    if (!isStillCaller(context, call, keysVersion)) {
      const found = await identifyAgain(context, call, operation.scope);
      if ("status" in found) return found;
    }
    const path = `/inventory/${petId}`;
    const idempotency = identifyRequest(caller.keyId, key, operation.method, path, `${quantity}`);
    const expected = ifMatch === null ? undefined : expectedVersions(ifMatch);
    const update = { petId, quantity, expected, reason, requestId, signal, trace, idempotency };
    const outcome = quantityOutcome(await setQuantity(context, caller, update));
    if (outcome.kind === "mismatch") return preconditionFailed(outcome.current);
    const { entries, epoch, isReplayed } = outcome;
    const entry = entries[0]!;
    const etag = `"${entryTag({ entry, epoch })}"`;
    const reply = { status: 200, body: entryJson(request.params!.petId!, entry), etag };
    return isReplayed ? { ...reply, headers: replayedHeaders } : reply;
  },
};

/** Rejects a value that is not a tag: that is a mistake of the client, not a changed entry. */
function readIfMatch(headers: Headers): string | null {
  const ifMatch = headers.get("if-match");
  if (ifMatch === null || isTagList(ifMatch)) return ifMatch;
  throw invalidRequest(ifMatchInvalid);
}

/** A 412 that shows the current state, so that the client need not ask for it. */
function preconditionFailed(current: VersionedEntry): Reply {
  const etag = `"${entryTag(current)}"`;
  return errorReply("precondition_failed", entryChanged(current.entry, etag), { ETag: etag });
}

export const inventoryOperations = { listInventory, getInventory, updateInventory };
