import type { MaybePromise } from "../../domain/running/clock.ts";
import { compressedBytesMin } from "../list/encodings.ts";
import type { ListVersion } from "../list/list.ts";
import { preferredEncoding } from "../messages/encodings.ts";
import { listChanged } from "../messages/error-messages.ts";
import { errorReply } from "../messages/errors.ts";
import { satisfiesIfMatch, satisfiesIfNoneMatch } from "../messages/etags.ts";
import { createTemplate, type HeaderTemplate } from "../messages/headers.ts";
import type { Reply } from "../messages/reply.ts";
import type { Context } from "../pipeline/context.ts";
import type { Call } from "../pipeline/operation.ts";

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
