import { beginSession } from "../../domain/catalogue/assistant-sessions.ts";
import { FailedLines, ServiceError } from "../../domain/running/errors.ts";
import type { ApiSettings } from "../api/operation.ts";
import { missingScope } from "../messages/error-messages.ts";
import { jsonTypes, readJsonText } from "../messages/requests.ts";
import type { Context } from "../pipeline/context.ts";
import type { Operation } from "../pipeline/operation.ts";
import {
  agreedRevision,
  fault,
  type Message,
  readMessage,
  resultOf,
  revisions,
} from "./messages.ts";
import { argumentsOf, createTools, type Tool, type ToolCall } from "./tools.ts";

type McpSettings = ApiSettings & { readonly corsOrigins: readonly string[] };

/** The one operation of assistants. It keeps nothing, so any instance can take any message. */
export function mcpOperation(settings: McpSettings): Operation {
  const tools = createTools(settings);
  return {
    ...{ id: "message", method: "POST", path: "", stability: "beta", cacheControl: "no-store" },
    body: { mediaTypes: jsonTypes, bytesMax: settings.bodyBytesMax },
    // The tool undo_session.
    isLong: true,
    async handle(context, call) {
      const { headers } = call.request;
      rejectForeignPage(headers.get("origin"), settings.corsOrigins);
      const message = readMessage(await readJsonText(call.request, call.operation), headers);
      if ("status" in message) return message;
      if (message.id === undefined) return { status: 202, body: null };
      const session = (!message.isCurrent && headers.get("mcp-session-id")) || undefined;
      return answer(tools, context, { ...call, session }, message);
    },
  };
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

async function answer(tools: readonly Tool[], context: Context, call: ToolCall, message: Message) {
  const { method, isCurrent, params } = message;
  const { scopes, keyId } = call.caller;
  const serverInfo = { name: "petstore-inventory", version: context.admin.facts.version };
  const result = (fields: object) => resultOf(message, fields, serverInfo);
  if (method === "tools/call") {
    const tool = tools.find(({ name }) => name === params.name);
    if (!tool) return fault(message, -32602, "There is no such tool. See tools/list.", 200);
    return result(await contentOf(tool, context, call, params.arguments));
  }
  if (method === "tools/list") {
    const allowed = tools.filter(({ scope }) => scopes.includes(scope));
    const listed = allowed.map(({ scope: _, run: __, ...tool }) => tool);
    return result({ tools: listed, ...(isCurrent && { ttlMs: 60_000, cacheScope: "private" }) });
  }
  if (isCurrent && method === "server/discover") {
    const cache = { ttlMs: 3_600_000, cacheScope: "public" };
    return result({ supportedVersions: revisions, ...about, ...cache });
  }
  if (!isCurrent && method === "ping") return result({});
  if (!isCurrent && method === "initialize") {
    const headers = { "Mcp-Session-Id": beginSession(keyId, context.clock.now()) };
    const protocolVersion = agreedRevision(params.protocolVersion);
    return { ...result({ protocolVersion, serverInfo, ...about }), headers };
  }
  // A client of an earlier revision would take 404 for the end of its session.
  return fault(message, -32601, "There is no such method here.", isCurrent ? 404 : 200);
}

/** The result of a tool. So is its error: the assistant reads it and can do better. */
async function contentOf(tool: Tool, context: Context, call: ToolCall, given: unknown) {
  const content = (isError: boolean, ...texts: readonly string[]) => ({
    content: texts.map((text) => ({ type: "text", text })),
    isError,
  });
  if (!call.caller.scopes.includes(tool.scope)) return content(true, missingScope(tool.scope));
  try {
    return content(false, await tool.run(context, call, argumentsOf(tool, given)));
  } catch (error) {
    // The store is unavailable, or this is a bug: the pipeline answers, logs and counts it.
    if (!(error instanceof ServiceError) || error.code === "unavailable") throw error;
    const said = error.message.replace(/^(?:Query|Path) parameter/, "Argument");
    const texts = [`${error.code}: ${said}`];
    if (error instanceof FailedLines) texts.push(JSON.stringify({ details: error.details }));
    return content(true, ...texts);
  }
}
