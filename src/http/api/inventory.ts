import { Refusal } from "../../domain/errors.ts";
import { quantityRule, readQuantity } from "../../domain/inventory.ts";
import { petNotFound } from "../../domain/pets.ts";
import type { MaybePromise } from "../../domain/ports.ts";
import { setQuantity } from "../../domain/shop.ts";
import { parseInt64 } from "../../domain/values/int64.ts";
import { isJsonObject, parseJson } from "../../domain/values/json.ts";
import { readJsonText } from "../body.ts";
import type { Answer, Call, Context } from "../call.ts";
import { satisfiesIfMatch, satisfiesIfNoneMatch } from "../etags.ts";
import { createSheet, type Sheet } from "../headers.ts";
import { entryJson } from "../list/chunks.ts";
import { compressedBytesMin, preferredCoding } from "../list/encodings.ts";
import type { ListVersion } from "../list/list.ts";

export function listInventory(shop: Context, call: Call): MaybePromise<Answer> {
  const wait = shop.follower.catchUp(call.head);
  return wait ? wait.then(() => currentList(shop, call)) : currentList(shop, call);
}

/** The list as it was published last: nothing here may wait. */
function currentList(shop: Context, call: Call): Answer {
  const { listing, codings } = shop;
  const { headers, method } = call.request;
  const version = listing.version();
  const { tag } = version;
  const wanted = headers.get("if-match");
  if (wanted !== null && !satisfiesIfMatch(wanted, tag)) {
    throw new Refusal("precondition_failed", "The list has changed: If-Match does not name it.");
  }
  const known = headers.get("if-none-match");
  const isShort = version.byteLength < compressedBytesMin;
  const coding = isShort ? undefined : preferredCoding(headers.get("accept-encoding"));
  if (known !== null && satisfiesIfNoneMatch(known, tag)) {
    const etag = coding && codings.has(version, coding) ? `"${tag}-${coding}"` : `"${tag}"`;
    return { status: 304, body: null, headers: { ETag: etag, ...listHeaders } };
  }
  const compressed = coding && codings.find(version, coding);
  if (coding && compressed) {
    const tagged = { ETag: `"${tag}-${coding}"`, "Content-Encoding": coding, ...listHeaders };
    return { status: 200, body: compressed, headers: tagged };
  }
  if (method === "HEAD") {
    const length = { "Content-Length": String(version.byteLength) };
    return { status: 200, body: null, headers: { ETag: `"${tag}"`, ...length, ...listHeaders } };
  }
  const body = shop.sender.bodyOf(version, call.request, call.caller.keyId);
  return { status: 200, body, sheet: listSheet(version) };
}

/** Caches may keep the list and must ask before they use it: it is never shown stale. */
const listHeaders = { "Cache-Control": "private, no-cache", Vary: "Accept-Encoding" };

const sheets = new WeakMap<ListVersion, Sheet>();

function listSheet(version: ListVersion): Sheet {
  let sheet = sheets.get(version);
  if (!sheet) {
    const type = { "Content-Type": "application/json" };
    sheet = createSheet({ ...type, ETag: `"${version.tag}"`, ...listHeaders });
    sheets.set(version, sheet);
  }
  return sheet;
}

export async function updateInventory(shop: Context, call: Call): Promise<Answer> {
  const petId = readPetId(call);
  const quantity = parseInventoryUpdate(await readJsonText(call.request, shop.bodyBytesMax));
  const { requestId, request } = call;
  const wanted = request.headers.get("if-match");
  if (wanted !== null && wanted.trim() !== "*") await refuseIfMatch(shop, petId);
  const change = { petId, quantity, requestId, signal: request.signal };
  const entry = await setQuantity(shop, call.caller, change);
  return { status: 200, body: entryJson(entry.petId, entry) };
}

/**
 * Entries have no ETag yet, so no tag can name one: the update must not be made. RFC 9110 13.2.1: a
 * request that would fail anyway fails as it would without the condition.
 */
async function refuseIfMatch(shop: Context, petId: bigint): Promise<never> {
  if (!(await shop.store.catalogue.findPet(petId))) throw new Refusal("not_found", petNotFound);
  throw new Refusal(
    "precondition_failed",
    "If-Match names no version of this entry: entries have no ETag. Leave it out, or send '*'.",
  );
}

export function readPetId(call: Call): bigint {
  const petId = parseInt64(call.request.params?.petId ?? "");
  if (petId === undefined) {
    throw new Refusal(
      "invalid_request",
      "Path parameter 'petId' must be a 64-bit integer in plain decimal digits.",
    );
  }
  return petId;
}

/**
 * The body nearly every client sends; anything else takes the thorough way below. JSON knows four
 * kinds of white space; \s would let a no-break space pass.
 */
const plainUpdate =
  /^[ \t\n\r]*\{[ \t\n\r]*"quantity"[ \t\n\r]*:[ \t\n\r]*(0|[1-9][0-9]{0,14})[ \t\n\r]*\}[ \t\n\r]*$/;

/** Reads the body of a stock update: the new quantity, or a refusal that names the broken rule. */
export function parseInventoryUpdate(text: string): number {
  const plain = plainUpdate.exec(text);
  if (plain) return Number(plain[1]);
  let body: unknown;
  try {
    body = parseJson(text);
  } catch {
    throw new Refusal("invalid_request", "The body is not valid JSON.");
  }
  if (!isJsonObject(body)) {
    throw new Refusal(
      "invalid_request",
      "The body must be a JSON object with the field 'quantity'.",
    );
  }
  if (!Object.hasOwn(body, "quantity")) {
    throw new Refusal("invalid_request", `Field 'quantity' is required and ${quantityRule}.`);
  }
  const quantity = readQuantity(body.quantity);
  if (quantity === undefined) {
    throw new Refusal("invalid_request", `Field 'quantity' ${quantityRule}.`);
  }
  return quantity;
}
