import type { Contract, Success } from "../api/contract/contract.ts";
import { compressText, preferredEncoding } from "../messages/encodings.ts";
import type { Reply } from "../messages/reply.ts";

/** A shorter text takes few packets, and is sent as soon without compression. */
const compressedCharactersMin = 4_096;

/**
 * Compresses a long text that an operation has read, if the client accepts that. The response to a
 * change is never compressed: it may show a new secret beside what the request contained, and its
 * length would tell something of both (BREACH). Streams and bodies with an ETag stay as they are.
 */
export async function compressedRead(reply: Reply, request: Request): Promise<Reply> {
  const { status, body, headers, etag } = reply;
  const isText = status === 200 && typeof body === "string" && etag === undefined;
  if (!isText || body.length < compressedCharactersMin) return reply;
  const vary = headers?.Vary === undefined ? "Accept-Encoding" : `${headers.Vary}, Accept-Encoding`;
  const encoding = preferredEncoding(request.headers.get("accept-encoding"));
  if (encoding === undefined) return { ...reply, headers: { ...headers, Vary: vary } };
  const bytes = await compressText(body, encoding);
  const all = { ...headers, Vary: vary, "Content-Encoding": encoding };
  return { ...reply, body: new Blob([bytes]), headers: all };
}

/** The contract of an operation whose responses `compressedRead` may compress. */
export function withCompression(contract: Contract): Contract {
  const { 200: success, ...others } = contract.success;
  if (!success?.schema || isStream(success)) return contract;
  const headers: Success["headers"] = ["VaryLong", "Content-Encoding", ...(success.headers ?? [])];
  return { ...contract, success: { ...others, 200: { ...success, headers } } };
}

/** Files, moments and the stock are streamed. The stock has a compression of its own. */
function isStream({ others, headers = [] }: Success): boolean {
  return others !== undefined || headers.includes("SnapshotETag") || headers.includes("Vary");
}
