import { beginSession } from "../../domain/catalogue/assistant-sessions.ts";
import { DetailedError, invalidRequest, ServiceError } from "../../domain/running/errors.ts";
import type { ApiSettings } from "../api/declaration.ts";
import { missingScope } from "../messages/error-messages.ts";
import { idempotencyKeyIn } from "../messages/headers.ts";
import type { Reply } from "../messages/reply.ts";
import { jsonTypes, readJsonText } from "../messages/requests.ts";
import { identifyAgain } from "../pipeline/authentication.ts";
import type { Context } from "../pipeline/context.ts";
import { keepOpen } from "../pipeline/keep-open.ts";
import type { Call, Operation } from "../pipeline/operation.ts";
import { agreeOn, fault, type Message, readMessages, resultOf, revisions } from "./messages.ts";
import { argumentsOf, createTools, type Tool } from "./tools.ts";

type McpSettings = ApiSettings & { readonly corsOrigins: readonly string[] };

/** The one operation of assistants. It keeps nothing, so any instance can take any message. */
export function mcpOperation(settings: McpSettings): Operation {
  const tools = createTools(settings);
  return {
    ...{ id: "message", method: "POST", path: "", stability: "beta", cacheControl: "no-store" },
    body: { mediaTypes: jsonTypes, bytesMax: settings.bodyBytesMax },
    // The tool undo_session, and arrays.
    isLong: true,
    async handle(context, call) {
      const { headers } = call.request;
      rejectForeignPage(headers.get("origin"), settings.corsOrigins);
      const messages = readMessages(await readJsonText(call.request, call.operation), headers);
      if ("status" in messages) return messages;
      const caller = await identifyAgain(context, call);
      if ("status" in caller) return caller;
      if (Array.isArray(messages)) return answerAll(tools, context, call, messages);
      return answer(tools, messages, context, { ...call, caller });
    },
  };
}

const accepted: Reply = { status: 202, body: null };

/** Runs the messages of an array one after the other, as requests of their own. */
async function answerAll(tools: Tools, context: Context, call: Call, messages: Message[]) {
  const bodies: string[] = [];
  let [part, text] = [new Response(), ""];
  for (const [at, message] of messages.entries()) {
    if (call.request.signal.aborted) break;
    // What comes after the end of a limit is refused with it.
    if (part.status !== 429) {
      using _ = keepOpen(context, call);
      part = await call.runPart((...of) => answer(tools, message, ...of), at === 0);
      text = await part.text();
    }
    if (message.id !== undefined) bodies.push(part.ok ? text : failureOf(message, text, part));
  }
  const after = part.headers.get("Retry-After");
  const sent = bodies.length > 0 ? { status: 200, body: `[${bodies.join()}]` } : accepted;
  return { ...sent, ...(after && { headers: { "Retry-After": after } }), hasParts: true as const };
}

/** An error of the API as that of a message, with the id of the request to ask about. */
function failureOf(message: Message, text: string, { headers }: Response): string {
  const data = { ...JSON.parse(text), requestId: headers.get("X-Request-Id") };
  return fault(message, -32000, data.message, 200, data).body;
}

/** A page elsewhere can make its own name lead to this address, so its Host proves nothing. */
function rejectForeignPage(origin: string | null, allowed: readonly string[]): void {
  if (origin === null || allowed.includes(origin) || allowed.includes("*")) return;
  throw new ServiceError("cross_origin", "Pages of this origin may not call the service.");
}

const about = {
  capabilities: { tools: {} },
  instructions:
    "The stock of a pet store: how many there are of each pet, and every change that was ever made. Find a petId with list_stock. Before you change the stock, call change_stock with dryRun and look at the result. The first change begins a session: give its id with all changes that belong together, so that undo_session can take all of them back at once.",
};

type Tools = readonly Tool[];

async function answer(tools: Tools, message: Message, context: Context, call: Call) {
  const { method, isCurrent, params } = message;
  if (message.id === undefined) return accepted;
  const session = (!isCurrent && call.request.headers.get("mcp-session-id")) || undefined;
  const { scopes, keyId } = call.caller;
  const serverInfo = { name: "petstore-inventory", version: context.admin.facts.version };
  const result = (fields: object) => resultOf(message, fields, serverInfo);
  if (method === "tools/call") {
    const tool = tools.find(({ name }) => name === params.name);
    if (!tool) return fault(message, -32602, "There is no such tool. See tools/list.", 200);
    return result(await contentOf(tool, context, call, message, session));
  }
  if (method === "tools/list") {
    const allowed = tools.filter(({ scope }) => scopes.includes(scope));
    const listed = allowed.map(({ scope: _, change: __, run: ___, ...tool }) => tool);
    return result({ tools: listed, ...(isCurrent && { ttlMs: 60_000, cacheScope: "private" }) });
  }
  if (isCurrent && method === "server/discover") {
    const cache = { ttlMs: 3_600_000, cacheScope: "public" };
    return result({ supportedVersions: revisions, ...about, ...cache });
  }
  if (!isCurrent && method === "ping") return result({});
  if (!isCurrent && method === "initialize") {
    const headers = {
      "Mcp-Session-Id": beginSession(keyId, await context.store.inventory.readClock()),
    };
    const protocolVersion = agreeOn(params.protocolVersion);
    return { ...result({ protocolVersion, serverInfo, ...about }), headers };
  }
  // A client of an earlier revision would take 404 for the end of its session.
  return fault(message, -32601, "There is no such method here.", isCurrent ? 404 : 200);
}

/** The result of a tool. So is its error: the assistant reads it and can do better. */
async function contentOf(
  tool: Tool,
  context: Context,
  call: Call,
  message: Message,
  session: string | undefined,
) {
  const content = (isError: boolean, ...texts: readonly string[]) => ({
    content: texts.map((text) => ({ type: "text", text })),
    isError,
  });
  if (!call.caller.scopes.includes(tool.scope)) return content(true, missingScope(tool.scope));
  try {
    const { idempotencyKey, ...given } = argumentsOf(tool, message.params.arguments);
    // The session of the connection is that of its changes.
    const isOfSession = session !== undefined && "session" in tool.inputSchema.properties!;
    const fields = isOfSession ? { session, ...given } : given;
    const reply = await tool.run(
      context,
      call,
      fields,
      keyOf(idempotencyKey, call, message, session),
    );
    const text = await new Response(reply.body).text();
    if (!reply.errorCode) return content(false, text);
    throw new ServiceError(reply.errorCode, JSON.parse(text).message);
  } catch (error) {
    // The store is unavailable, or this is a bug: the pipeline answers, logs and counts it.
    if (!(error instanceof ServiceError) || error.code === "unavailable") throw error;
    const said = error.message.replace(/^(?:Query|Path) parameter/, "Argument");
    const texts = [`${error.code}: ${said}`];
    if (error instanceof DetailedError) texts.push(JSON.stringify({ details: error.details }));
    return content(true, ...texts);
  }
}

/**
 * The idempotency key of a call: the argument, or the header. In a session, a message with the same id is
 * the same message. Neither text can be a key that a client gives, which has no line breaks.
 */
function keyOf(
  given: unknown,
  { request }: Call,
  { id, isOneOfMany }: Message,
  session: string | undefined,
): string | undefined {
  if (given !== undefined) {
    if (typeof given === "string" && /^[ -~]{1,255}$/.test(given)) return given;
    throw invalidRequest(
      "Argument 'idempotencyKey' must have 1 to 255 printable ASCII characters.",
    );
  }
  const sent = idempotencyKeyIn(request);
  if (sent !== undefined) return isOneOfMany ? `${sent}\n${JSON.stringify(id)}` : sent;
  return session === undefined ? undefined : `${session}\n${JSON.stringify(id)}`;
}
