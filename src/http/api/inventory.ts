import { ServiceError } from "../../domain/errors.ts";
import { petNotFound } from "../../domain/pets.ts";
import type { MaybePromise } from "../../domain/ports.ts";
import { setQuantity } from "../../domain/shop.ts";
import { readJsonText } from "../body.ts";
import { satisfiesIfMatch, satisfiesIfNoneMatch } from "../etags.ts";
import { createTemplate, type HeaderTemplate } from "../headers.ts";
import { entryJson } from "../list/chunks.ts";
import { compressedBytesMin, preferredEncoding } from "../list/encodings.ts";
import type { ListVersion } from "../list/list.ts";
import { listChanged, noEntryTags } from "../messages.ts";
import type { Call, Context, Reply } from "../operation.ts";
import { readPetId } from "./parameters.ts";
import { parseStockUpdate } from "./stock-update.ts";

export function listInventory(context: Context, call: Call): MaybePromise<Reply> {
  const wait = context.follower.catchUp(call.head);
  return wait ? wait.then(() => currentList(context, call)) : currentList(context, call);
}

/** Replies with the published list. It must not wait, because the list could change meanwhile. */
function currentList({ list }: Context, call: Call): Reply {
  const { headers, method } = call.request;
  const version = list.versions.current();
  const { tag } = version;
  const expected = headers.get("if-match");
  if (expected !== null && !satisfiesIfMatch(expected, tag)) {
    throw new ServiceError("precondition_failed", listChanged);
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
const listHeaders = { "Cache-Control": "private, no-cache", Vary: "Accept-Encoding" };

const templates = new WeakMap<ListVersion, HeaderTemplate>();

function listTemplate(version: ListVersion, { operation }: Call): HeaderTemplate {
  let template = templates.get(version);
  if (!template) {
    template = createTemplate({ ...operation.headers, ETag: `"${version.tag}"`, ...listHeaders });
    templates.set(version, template);
  }
  return template;
}

export async function updateInventory(context: Context, call: Call): Promise<Reply> {
  const { requestId, request, caller, operation } = call;
  const petId = readPetId(request);
  const quantity = parseStockUpdate(await readJsonText(request, operation));
  const expected = request.headers.get("if-match");
  if (expected !== null && expected.trim() !== "*") await rejectIfMatch(context, petId);
  const change = { petId, quantity, requestId, signal: request.signal };
  const entry = await setQuantity(context, caller, change);
  return { status: 200, body: entryJson(entry.petId, entry) };
}

/**
 * Entries have no ETag yet, so no If-Match with a tag can be true. RFC 9110 13.2.1: a request that
 * would fail without the condition fails in the same way with it.
 */
async function rejectIfMatch({ store }: Context, petId: bigint): Promise<never> {
  if (!(await store.catalogue.findPet(petId))) throw new ServiceError("not_found", petNotFound);
  throw new ServiceError("precondition_failed", noEntryTags);
}
