import { ServiceError } from "../../domain/running/errors.ts";
import { isJsonObject, JsonNumber } from "../../domain/values/json.ts";
import { parseBody } from "../api/parameters.ts";
import type { Reply } from "../messages/reply.ts";

/**
 * The Model Context Protocol is JSON-RPC 2.0, one message in the body of each POST. In the current
 * revision, every request says by itself which revision it is in. In those before, a handshake
 * (`initialize`) begins a session. The oldest one has no header for the revision.
 */
export const revisions = ["2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26"] as const;
const [current, ...earlier] = revisions;
const oldest = earlier.at(-1)!;

/** A message of a client that keeps the rules of its revision. Its numbers are JsonNumbers. */
export interface Message {
  /** Sent back as it is. Undefined for a notification, which gets no response. */
  readonly id: unknown;
  readonly method: string;
  readonly params: Readonly<Record<string, unknown>>;
  /** True in the current revision, false in those before. */
  readonly isCurrent: boolean;
}

const metaName = (name: string) => `io.modelcontextprotocol/${name}`;

/**
 * Reads the message in a body. Returns the error response if it breaks a rule of its revision. Throws if
 * it is not a message.
 */
export function readMessage(text: string, headers: Headers): Message | Reply {
  const body = parseBody(text);
  const { jsonrpc, id, method, params = {} } = isJsonObject(body) ? body : {};
  const isId = id === undefined || typeof id === "string" || id instanceof JsonNumber;
  if (jsonrpc !== "2.0" || typeof method !== "string" || !isId || !isJsonObject(params)) {
    throw new ServiceError("invalid_request", "The body must be one message of JSON-RPC 2.0.");
  }
  const meta = isJsonObject(params._meta) ? params._meta : {};
  const revision = meta[metaName("protocolVersion")];
  const message = { id, method, params, isCurrent: revision !== undefined };
  const sent = (name: string) => headerText(headers.get(name));
  const sentRevision = sent("MCP-Protocol-Version") ?? oldest;
  if (!message.isCurrent && sentRevision !== current) {
    const isKnown = method === "initialize" || isEarlier(sentRevision);
    return isKnown ? message : unsupported(message, sentRevision);
  }
  // No notification has an effect here.
  if (id === undefined) return message;
  if (typeof revision !== "string" || !isJsonObject(meta[metaName("clientCapabilities")])) {
    return fault(message, -32602, "_meta needs protocolVersion and clientCapabilities.");
  }
  // Proxies may rely on these headers, so they must say the same as the body.
  const isSame =
    sentRevision === revision &&
    sent("Mcp-Method") === method &&
    (method !== "tools/call" || sent("Mcp-Name") === params.name);
  if (!isSame) return fault(message, -32020, "The headers do not match the body.");
  return revision === current ? message : unsupported(message, revision);
}

/** Texts that a header cannot hold are sent in base64. */
function headerText(value: string | null): string | null {
  const encoded = /^=\?base64\?(.*)\?=$/.exec(value ?? "")?.[1];
  return encoded === undefined ? value : Buffer.from(encoded, "base64").toString();
}

const isEarlier = (revision: unknown) => earlier.some((one) => one === revision);

/** The revision of a session, given the one that the client asks for. */
export const agreedRevision = (asked: unknown) => (isEarlier(asked) ? asked : earlier[0]);

function unsupported({ id }: Message, requested: string): Reply {
  const message = `Header 'MCP-Protocol-Version' must be ${revisions.join(" or ")}.`;
  return refusal(
    { id, error: { code: -32022, message, data: { supported: revisions, requested } } },
    400,
  );
}

/** An error response. A message that breaks the rules of its revision gets 400. */
export function fault({ id }: Message, code: number, message: string, status = 400): Reply {
  return refusal({ id, error: { code, message } }, status);
}

function refusal(fields: object, status: number): Reply {
  const body = JSON.stringify({ jsonrpc: "2.0", ...fields });
  return { status, body, ...(status >= 400 && { errorCode: "invalid_request" }) };
}

/** A result. In the current revision, it also says that it is complete and who sent it. */
export function resultOf({ id, isCurrent }: Message, result: object, serverInfo: object): Reply {
  const _meta = { [metaName("serverInfo")]: serverInfo };
  const all = isCurrent ? { resultType: "complete", ...result, _meta } : result;
  return { status: 200, body: JSON.stringify({ jsonrpc: "2.0", id, result: all }) };
}
