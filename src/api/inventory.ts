import { Refusal } from "../domain/errors.ts";
import { parseInt64 } from "../domain/integers.ts";
import { parseInventoryUpdate, setQuantity } from "../domain/inventory.ts";
import type { Soon } from "../domain/ports.ts";
import { readJsonText } from "./body.ts";
import type { Answer, Call, Shop } from "./call.ts";
import { entryJson } from "./chunks.ts";
import { isCoding, preferredCoding } from "./codings.ts";
import { createSheet, type Sheet } from "./headers.ts";
import type { ListVersion } from "./listing.ts";

export function listInventory(shop: Shop, call: Call): Soon<Answer> {
  const wait = shop.follower.catchUp(call.head);
  return wait ? wait.then(() => currentList(shop, call)) : currentList(shop, call);
}

/** The list as it was published last: nothing here may wait. */
function currentList(shop: Shop, call: Call): Answer {
  const { listing, codings } = shop;
  const { headers, method } = call.request;
  const version = listing.version();
  const { tag } = version;
  const known = headers.get("if-none-match");
  const match = known === null ? undefined : matchingTag(known, tag);
  if (match) return { status: 304, body: null, headers: { ETag: match, ...listHeaders } };
  const coding = preferredCoding(headers.get("accept-encoding"));
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

/** The tag in an If-None-Match that names this version in any coding, as the client wrote it. */
function matchingTag(header: string, tag: string): string | undefined {
  if (header.trim() === "*") return `"${tag}"`;
  for (const [, quoted = "", opaque = ""] of header.matchAll(/(?:W\/)?("([^"]*)")/g)) {
    if (opaque === tag || codingTag(opaque, tag)) return quoted;
  }
  return undefined;
}

function codingTag(opaque: string, tag: string): boolean {
  return opaque.startsWith(`${tag}-`) && isCoding(opaque.slice(tag.length + 1));
}

export async function updateInventory(shop: Shop, call: Call): Promise<Answer> {
  const petId = readPetId(call);
  const quantity = parseInventoryUpdate(await readJsonText(call.request, shop.bodyBytesMax));
  const { requestId } = call;
  const entry = await setQuantity(shop.committer, call.caller, { petId, quantity, requestId });
  return { status: 200, body: entryJson(entry.petId, entry) };
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
