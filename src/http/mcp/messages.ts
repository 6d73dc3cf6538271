import { invalidRequest } from "../../domain/running/errors.ts";
import { isJsonObject, JsonNumber } from "../../domain/values/json.ts";
import { parseBody } from "../messages/fields.ts";
import type { Reply } from "../messages/reply.ts";

/**
 * The Model Context Protocol is JSON-RPC 2.0, one message in the body of each POST. In the current
 * revision, every request says by itself which revision it is in. In those before, a handshake
 * (`initialize`) begins a session. The oldest one has no header for the revision, and arrays of messages.
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
  readonly meta: Readonly<Record<string, unknown>>;
  /** True in the current revision, false in those before. */
  readonly isCurrent: boolean;
  /** True in an array. */
  readonly isOneOfMany?: boolean;
}

const metaName = (name: string) => `io.modelcontextprotocol/${name}`;

/** Of an array. Larger ones would keep a connection too long. */
const messagesMax = 20;
const arrayRule = `Only the revision ${oldest} has arrays: of 1 to ${messagesMax} messages, each with an id of its own, and none of them 'initialize'.`;

/**
 * Reads the message in a body, or the messages in its array. Returns the error response if it breaks a rule
 * of its revision. Throws if it is neither. Nothing of an array is run if one of its messages breaks a rule.
 */
export function readMessages(text: string, headers: Headers): Message | Message[] | Reply {
  const body = parseBody(text);
  if (!Array.isArray(body)) return checkRevision(messageIn(body), headers);
  const messages = body.slice(0, messagesMax).map(messageIn);
  const ids = messages.flatMap(({ id }) => (id === undefined ? [] : JSON.stringify(id)));
  const isOldest = (headers.get("MCP-Protocol-Version") ?? oldest) === oldest;
  const isOther = messages.some(({ method, isCurrent }) => isCurrent || method === "initialize");
  const isWhole = messages.length > 0 && messages.length === body.length;
  if (isOldest && !isOther && isWhole && new Set(ids).size === ids.length) {
    return messages.map((message) => ({ ...message, isOneOfMany: true }));
  }
  throw invalidRequest(arrayRule);
}

function messageIn(body: unknown): Message {
  const fields = isJsonObject(body) ? body : {};
  const { jsonrpc, id, method = "", params = {}, result, error } = fields;
  const isId = typeof id === "string" || id instanceof JsonNumber;
  // Clients are asked nothing, so a response has no effect, like a notification.
  const isResponse = method === "" && isId && isJsonObject(result ?? error);
  const isRequest = typeof method === "string" && method !== "" && (isId || id === undefined);
  if (jsonrpc !== "2.0" || !(isRequest || isResponse) || !isJsonObject(params)) {
    throw invalidRequest("The body must be one message of JSON-RPC 2.0, or an array of them.");
  }
  const meta = isJsonObject(params._meta) ? params._meta : {};
  const isCurrent = meta[metaName("protocolVersion")] !== undefined;
  return { id: isResponse ? undefined : id, method: `${method}`, params, meta, isCurrent };
}

function checkRevision(message: Message, headers: Headers): Message | Reply {
  const { id, method, params, meta } = message;
  const revision = meta[metaName("protocolVersion")];
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
export const agreeOn = (asked: unknown) => (isEarlier(asked) ? asked : earlier[0]);

function unsupported(message: Message, requested: string): Reply {
  const text = `Header 'MCP-Protocol-Version' must be ${revisions.join(" or ")}.`;
  return fault(message, -32022, text, 400, { supported: revisions, requested });
}

/** An error response. A message that breaks the rules of its revision gets 400. */
export function fault({ id }: Message, code: number, message: string, status = 400, data?: object) {
  const body = JSON.stringify({ jsonrpc: "2.0", id, error: { code, message, data } });
  return { status, body, ...(status >= 400 && { errorCode: "invalid_request" as const }) };
}

/** A result. In the current revision, it also says that it is complete and who sent it. */
export function resultOf({ id, isCurrent }: Message, result: object, serverInfo: object): Reply {
  const _meta = { [metaName("serverInfo")]: serverInfo };
  const all = isCurrent ? { resultType: "complete", ...result, _meta } : result;
  return { status: 200, body: JSON.stringify({ jsonrpc: "2.0", id, result: all }) };
}
