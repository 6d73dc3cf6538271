import {
  beginSession,
  keyOfSession,
  markReason,
  startOf,
} from "../../domain/catalogue/assistant-sessions.ts";
import { yieldToEventLoop } from "../../domain/running/background.ts";
import { invalidRequest, ServiceError } from "../../domain/running/errors.ts";
import { applyChanges } from "../../domain/shop/shop.ts";
import { parseInt64 } from "../../domain/values/int64.ts";
import { exactInteger, isJsonObject, JsonNumber } from "../../domain/values/json.ts";
import { once } from "../../domain/values/once.ts";
import { isReason } from "../../domain/values/texts.ts";
import { dryRun } from "../admin/imports.ts";
import { runUndo, sessionParameter } from "../admin/undo.ts";
import { parseChanges } from "../api/change-list.ts";
import { appliedFields, changeFields, changeSchemas } from "../api/changes.ts";
import type { Contract, Parameter } from "../api/contract/contract.ts";
import { int64, requestObject, type Schema } from "../api/contract/schema.ts";
import type { ApiOperation, ApiSettings } from "../api/declaration.ts";
import { type ApiOperationId, apiBasePath, apiOperations } from "../api/operations.ts";
import { integerParameter, queryParameter, readParameter } from "../api/parameters.ts";
import { missingScope } from "../messages/error-messages.ts";
import { rejectUnknownField } from "../messages/unknown-names.ts";
import type { Context } from "../pipeline/context.ts";
import type { Call, RoutedOperation } from "../pipeline/operation.ts";
import { routesOf } from "../pipeline/routes.ts";

/** Something that an assistant can do. */
export interface Tool {
  readonly name: string;
  /** For the assistant: what the tool does, and when to use it. */
  readonly description: string;
  /** A key without it neither sees the tool nor can call it. */
  readonly scope: ApiOperation["scope"];
  readonly inputSchema: Schema;
  readonly annotations: { readonly readOnlyHint: boolean };
  /** Gets the arguments as the query of an operation has them. Returns the result as JSON. */
  run(context: Context, call: ToolCall, query: URLSearchParams): Promise<string>;
}

export interface ToolCall extends Call {
  /** The session of the client's connection, if its revision of the protocol has sessions. */
  readonly session: string | undefined;
}

/** A tool with parameters in the form of those of operations. */
interface DeclaredTool extends Omit<Tool, "inputSchema" | "annotations"> {
  readonly parameters: readonly Parameter[];
}

/** Tools that are operations of the API. A row here offers another one to assistants. */
const fromOperations: Readonly<Record<string, ApiOperationId>> = {
  get_stock: "getInventory",
  stock_history: "listHistory",
  list_changes: "listChanges",
  stock_at: "getSnapshot",
  compare_stock: "getDiff",
  what_became_of_request: "getRequest",
};

/** All tools, in the order in which assistants see them. */
export function createTools(settings: ApiSettings): readonly Tool[] {
  const operations = apiOperations(settings);
  const routes = routesOf({ basePath: apiBasePath, operations });
  const routed = routes.flatMap((route) => [...route.operations.values()]);
  const made = Object.entries(fromOperations).map(([name, id]) => {
    const { contract, scope } = operations.find((one) => one.id === id)!;
    const run = runnerOf(routed.find((one) => one.id === id)!, contract);
    // The rest is about HTTP.
    const description = contract.description.split(/(?<=\.)\s/)[0]!;
    return { name, description, scope, parameters: parametersOf(contract), run };
  });
  return [listStock, ...made, changeStock, undoSession].map(toTool);
}

function toTool({ parameters, ...tool }: DeclaredTool): Tool {
  const required = parameters.filter((one) => one.in === "path" || one.required);
  const properties = parameters.map(({ name, description, schema }) => {
    return [name, { ...(name === "petId" ? idOrText(schema) : schema), description }];
  });
  return {
    ...tool,
    inputSchema: {
      ...{ type: "object", properties: Object.fromEntries(properties) },
      ...{ required: required.map(({ name }) => name), additionalProperties: false },
    },
    // Every tool that changes something can be tried.
    annotations: { readOnlyHint: !parameters.includes(dryRun) },
  };
}

/** A program that would round an id above 2^53, to that of another pet, sends it as a text. */
const idOrText = (schema: Schema): Schema => ({ ...schema, type: ["integer", "string"] });

/** Reads the arguments of a call. A list becomes its JSON. Null means not given. */
export function argumentsOf({ inputSchema }: Tool, given: unknown = {}): URLSearchParams {
  const { properties = {}, required = [] } = inputSchema;
  const query = new URLSearchParams();
  if (!isJsonObject(given)) throw invalidRequest("The arguments must be an object.");
  for (const [name, value] of Object.entries(given)) {
    rejectUnknownField(name, Object.keys(properties));
    if (value === null) continue;
    const text = value instanceof JsonNumber ? value.source : value;
    const isList = Array.isArray(value);
    const isOther = isList !== (properties[name]!.type === "array");
    if (isOther || (typeof text === "object" && !isList))
      throw invalidRequest(`Argument '${name}' has the wrong type.`);
    query.set(name, isList ? JSON.stringify(value, withExactIds) : `${text}`);
  }
  const missing = required.find((name) => !query.has(name));
  if (missing) throw invalidRequest(`Argument '${missing}' is required.`);
  return query;
}

/** Writes an id in quotes as the number that it is. */
function withExactIds(name: string, value: unknown): unknown {
  const id = name === "petId" && typeof value === "string" ? parseInt64(value) : undefined;
  return id === undefined ? value : exactInteger(id);
}

/** An assistant reads all that it gets, so its pages are short. */
const pageItems = { min: 1, initial: 50, max: 200 };
const limitText = "How many items to return at most. If the result has `next`, call again with it.";
const limit = integerParameter("limit", pageItems, limitText, 50);
const after = queryParameter({
  ...{ name: "after", description: "Only pets with a larger petId.", example: 7 },
  schema: idOrText(int64("")),
  rule: "must be a 64-bit integer",
  parse: parseInt64,
});

const hasLimit = ({ parameters = [] }: Contract) => parameters.some(({ name }) => name === "limit");

/** Lists get pages where they have none. Assistants neither follow the feed nor write addresses. */
function parametersOf(contract: Contract): readonly Parameter[] {
  const { parameters = [], success } = contract;
  const own = parameters.filter((one) => one.in !== "header" && one.name !== "limit");
  const described = own.map((one) => {
    return { ...one, description: one.description.replace(/ [^.]*(?:\bfeed\b|%2B)[^.]*\./g, "") };
  });
  if (success[200]?.schema?.type !== "array") return described;
  return [...described, ...(hasLimit(contract) ? [] : [after]), limit];
}

function runnerOf(operation: RoutedOperation, contract: Contract): Tool["run"] {
  return async (context, call, query) => {
    const count = readParameter(query, limit) ?? pageItems.initial;
    if (hasLimit(contract)) query.set("limit", `${count}`);
    const start = hasLimit(contract) ? undefined : readParameter(query, after);
    const asked = { ...call, operation, request: requestFor(operation.path, query, call.request) };
    const reply = await operation.handle(inPages(context, start, count), asked);
    const text = await new Response(reply.body).text();
    if (reply.errorCode) throw new ServiceError(reply.errorCode, JSON.parse(text).message);
    // The argument for the next page is the last one in the link to it.
    const [, name, value] = /[?&](\w+)=(\d+)>/.exec(reply.headers?.Link ?? "") ?? [];
    return hasLimit(contract) ? pageJson(text, name, Number(value)) : text;
  };
}

/** The request that an operation with this path would get. */
function requestFor(path: string, query: URLSearchParams, { signal }: Request) {
  const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name!);
  const params = Object.fromEntries(names.map((name) => [name, query.get(name) ?? ""]));
  return Object.assign(new Request(`http://localhost/?${query}`, { signal }), { params });
}

/** One page of a list, which is a JSON array. `next` is the argument for the next page. */
function pageJson(items: string, name: string | undefined, value: unknown): string {
  return `{"items":${items}${name ? `,"next":${JSON.stringify({ [name]: value })}` : ""}}`;
}

/** For operations that send long lists. They prepare one page, and wait for their turn as ever. */
function inPages(context: Context, start: bigint | undefined, count: number): Context {
  const open: Context["snapshots"]["open"] = (call, prepare) =>
    context.snapshots.open(call, async (signal) =>
      once(Buffer.from(await pageOf(await prepare(signal), start, count))),
    );
  return { ...context, snapshots: { open } };
}

/** A page of a JSON array of objects that begin with their petId. Each part has whole objects. */
async function pageOf(parts: AsyncIterable<Uint8Array>, start: bigint | undefined, count: number) {
  const isWanted = (one: string) => one[0] === "{" && (start === undefined || idOf(one) > start);
  const items: string[] = [];
  for await (const part of parts) {
    const text = Buffer.from(part).toString("latin1");
    // Most parts end before a deep page, and are not looked at further.
    if (isWanted(text.slice(text.lastIndexOf('{"petId":')))) {
      const all = text.slice(1).split(/,(?=\{"petId":)/);
      items.push(...all.filter(isWanted));
    }
    if (items.length > count) break;
    await yieldToEventLoop();
  }
  return petPage(items, count);
}

const idOf = (item: string) => BigInt(/-?\d+/.exec(item)![0]);

/** The first items. `readUpTo` is the id up to which a search got, if it did not end. */
function petPage(items: readonly string[], count: number, readUpTo?: bigint | null): string {
  const shown = items.slice(0, count);
  const last = items.length > count ? idOf(shown.at(-1)!) : readUpTo;
  // In quotes: it may be larger than 2^53.
  return pageJson(`[${shown.join()}]`, typeof last === "bigint" ? "after" : "", `${last}`);
}

const shortText: Schema = { type: "string", minLength: 1, maxLength: 160 };

function argument(name: string, description: string, schema = shortText): Parameter {
  return { name, in: "query", description, schema, example: "" };
}

/** Pets that one call searches. It counts as one request, so its work is bounded. */
const petsSearchedMax = 50_000;

const listStock: DeclaredTool = {
  name: "list_stock",
  description:
    "Lists pets by ascending petId: how many there are, the status, the version, and the name if the key may read names. With `name`, it finds pets by a part of their name. In a large store, one call searches only a part: if the result has `next`, call again with it, even if there are no items.",
  scope: "inventory:read",
  parameters: [argument("name", "Only pets with this in their name."), after, limit],
  async run({ store: { catalogue, inventory }, snapshots }, call, query) {
    const isNamed = call.caller.scopes.includes("pets:read");
    const wanted = (query.get("name") ?? "").toLowerCase();
    if (wanted && !isNamed) throw new ServiceError("insufficient_scope", missingScope("pets:read"));
    const count = readParameter(query, limit) ?? pageItems.initial;
    const isFound = (pet: object) => "name" in pet && `${pet.name}`.toLowerCase().includes(wanted);
    const rows = wanted ? 1_000 : count + 1;
    const read = isNamed ? catalogue.namedEntriesAfter : inventory.entriesAfter;
    const search = async (signal: AbortSignal): Promise<string> => {
      const items: string[] = [];
      let last = readParameter(query, after) ?? null;
      for (let done = 0; done < petsSearchedMax && !signal.aborted; done += rows) {
        const pets = await read(last, rows);
        const found = wanted ? pets.filter(isFound) : pets;
        items.push(
          ...found.map((pet) => JSON.stringify({ ...pet, petId: exactInteger(pet.petId) })),
        );
        if (items.length > count || pets.length < rows) return petPage(items, count);
        last = pets.at(-1)!.petId;
        await yieldToEventLoop();
      }
      return petPage(items, count, last);
    };
    const stream = snapshots.open(call, async (signal) => once(Buffer.from(await search(signal))));
    return new Response(await stream).text();
  },
};

/** The session of a call. A key can neither add to a session of another key nor undo it. */
function sessionOf({ session: own, caller }: ToolCall, query: URLSearchParams): string | undefined {
  const session = readParameter(query, sessionParameter) ?? own;
  if (session === undefined || keyOfSession(session) === caller.keyId) return session;
  throw noSuchSession();
}

const noSuchSession = () => new ServiceError("not_found", "This key has no such session.");

const { StockChange, StockChanges } = changeSchemas;
const changed = { ...changeFields, petId: idOrText(changeFields.petId) };
const changeList = {
  ...StockChanges!.properties!.changes,
  // Flat: not every program passes alternatives on to its model.
  items: requestObject(StockChange!.description!, changed, {}, ["petId"]),
};

const reasonRequired =
  "Each change, or the call, must have a reason of 1 to 160 characters without control characters.";

const changeStock: DeclaredTool = {
  name: "change_stock",
  description:
    "Changes the stock of one or more pets, all or nothing. A change has either `delta`, to add or take away, or `quantity`, the new total. Prefer `delta` for sales and deliveries. With `dryRun`, nothing is stored, and the result shows the stock before and after: do this first. The result of a change has the `session`: give it with later changes, so that undo_session can take back all of them.",
  scope: "inventory:write",
  parameters: [
    { ...argument("changes", "What to change, all or nothing.", changeList), required: true },
    argument("reason", "Why, for people who read it later. Required unless each change has one."),
    dryRun,
    sessionParameter,
  ],
  async run(context, call, query) {
    const { caller, requestId, trace, request } = call;
    const isDryRun = readParameter(query, dryRun) ?? false;
    const { changes } = parseChanges(`{"changes":${query.get("changes")}}`);
    const now = await context.store.inventory.readClock();
    const session = sessionOf(call, query) ?? beginSession(caller.keyId, now);
    // Because an undo does not look for changes from before their session.
    if (startOf(session) > now) throw noSuchSession();
    const marked = changes.map(({ reason, ...change }) => {
      const said = reason ?? query.get("reason")?.trim();
      const text = markReason(said ?? "", session);
      if (said && isReason(text)) return { ...change, reason: text };
      throw invalidRequest(reasonRequired);
    });
    const write = { requestId, signal: request.signal, trace, isDryRun };
    const stored = await applyChanges(context, caller, marked, write);
    const begun = isDryRun ? "" : `"session":"${session}","requestId":"${requestId}",`;
    return `{${begun}${appliedFields(stored)}}`;
  },
};

const undoSession: DeclaredTool = {
  name: "undo_session",
  description:
    "Takes back all changes of one of your sessions at once, all or nothing. Pets that somebody else has changed since are left out, and the result says so. With `dryRun`, nothing is stored, and the result shows what would happen.",
  scope: "inventory:write",
  parameters: [sessionParameter, dryRun],
  async run(context, call, query) {
    const session = sessionOf(call, query);
    if (!session) throw invalidRequest("Argument 'session' is required.");
    const actor = { keyId: call.caller.keyId, requestId: call.requestId };
    const isDryRun = readParameter(query, dryRun) ?? false;
    const run = { session, isDryRun, actor, force: false, isByAssistant: true };
    return runUndo(context, call, run);
  },
};
