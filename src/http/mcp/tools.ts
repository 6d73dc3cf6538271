import {
  beginSession,
  isOlderThan,
  keyOfSession,
  markReason,
  sessionOfRow,
  startOf,
} from "../../domain/catalogue/assistant-sessions.ts";
import type { Caller } from "../../domain/keys/keys.ts";
import type { Entry } from "../../domain/ledger/inventory.ts";
import { yieldToEventLoop } from "../../domain/running/background.ts";
import { invalidRequest, ServiceError } from "../../domain/running/errors.ts";
import { applyChanges } from "../../domain/shop/shop.ts";
import { parseInt64 } from "../../domain/values/int64.ts";
import { isJsonObject, JsonNumber } from "../../domain/values/json.ts";
import { isReason } from "../../domain/values/texts.ts";
import { textField } from "../admin/fields.ts";
import { runUndo, sessionParameter } from "../admin/undo.ts";
import { appliedFields, canonicalText, readChanges } from "../api/change-list.ts";
import { changeFields, changeSchemas } from "../api/changes.ts";
import type { Contract, Parameter } from "../api/contract/contract.ts";
import { requestObject, type Schema } from "../api/contract/schema.ts";
import type { ApiOperation, ApiSettings } from "../api/declaration.ts";
import { type ListPage, petPage, type ReadPage } from "../api/list-pages.ts";
import { type ApiOperationId, apiOperations } from "../api/operations.ts";
import {
  afterPet as after,
  dryRun,
  integerParameter,
  readParameter,
  tries,
} from "../api/parameters.ts";
import { missingScope } from "../messages/error-messages.ts";
import { type Fields, rejectUnknownField, textOf } from "../messages/fields.ts";
import type { Reply } from "../messages/reply.ts";
import type { Context } from "../pipeline/context.ts";
import { passGate } from "../pipeline/gate.ts";
import type { Call, Change } from "../pipeline/operation.ts";

/** Something that an assistant can do. */
export interface Tool {
  readonly name: string;
  /** For the assistant: what the tool does, and when to use it. */
  readonly description: string;
  /** A key without it neither sees the tool nor can call it. */
  readonly scope: ApiOperation["scope"];
  readonly inputSchema: Schema;
  readonly annotations: { readonly readOnlyHint: boolean };
  /** How it changes something. Undefined if it only reads. */
  readonly change?: Change;
  readonly run: RunTool;
}

/** Gets the arguments, and the idempotency key of the call. */
type RunTool = (
  context: Context,
  call: Call,
  fields: Fields,
  key: string | undefined,
) => Promise<Reply>;

/** A tool with parameters in the form of those of operations. */
interface DeclaredTool extends Omit<Tool, "inputSchema" | "annotations"> {
  readonly parameters: readonly Parameter[];
}

/** A tool that changes something passes the same gate as an operation. */
interface ChangeTool extends Omit<DeclaredTool, "name" | "run">, Change {
  readonly isLong?: true;
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
  const made = Object.entries(fromOperations).map(([name, id]) => {
    const operation = operations.find((one) => one.id === id)!;
    const { contract, scope, readPage } = operation;
    const run = readPage ? inPages(readPage) : runnerOf(operation);
    // The rest is about HTTP.
    const description = contract.description.split(/(?<=\.)\s/)[0]!;
    return { name, description, scope, parameters: parametersOf(contract, readPage), run };
  });
  const changing = Object.entries(changeTools).map(([name, tool]) => gatedTool(name, tool));
  return [listStock, ...made, ...changing].map(toTool);
}

function gatedTool(
  name: string,
  { description, scope, parameters, ...change }: ChangeTool,
): DeclaredTool {
  const operation = { ...change, id: name, method: "POST", path: `/${name}`, scope } as const;
  const run: RunTool = (context, call, fields, key) =>
    passGate(context, call, operation, { fields, key });
  const all = [...parameters, idempotencyKey];
  return { name, description, scope, parameters: all, change, run };
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
    annotations: { readOnlyHint: !tool.change },
  };
}

/** A program that would round an id above 2^53, to that of another pet, sends it as a text. */
const idOrText = (schema: Schema): Schema => ({ ...schema, type: ["integer", "string"] });

/** Reads the arguments of a call, by the names and the types of its tool. Null means not given. */
export function argumentsOf({ inputSchema }: Tool, sent: unknown): Fields {
  const { properties = {}, required = [] } = inputSchema;
  const given = sent ?? {};
  if (!isJsonObject(given)) throw invalidRequest("The arguments must be an object.");
  const fields: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(given)) {
    rejectUnknownField(name, Object.keys(properties));
    if (value === null) continue;
    const schema = properties[name]!;
    if (Array.isArray(value) !== (schema.type === "array") || isJsonObject(value)) {
      throw invalidRequest(`Argument '${name}' has the wrong type.`);
    }
    fields[name] = withExactIds(value, schema);
  }
  const missing = required.find((name) => !Object.hasOwn(fields, name));
  if (missing) throw invalidRequest(`Argument '${missing}' is required.`);
  return fields;
}

/** The same value. An id in quotes becomes the number that it is. */
function withExactIds(value: unknown, { type, items, properties }: Schema): unknown {
  if (Array.isArray(value) && items) return value.map((one) => withExactIds(one, items));
  if (isJsonObject(value) && properties) {
    const fields = Object.entries(value).map(([name, one]) => {
      return [name, Object.hasOwn(properties, name) ? withExactIds(one, properties[name]!) : one];
    });
    return Object.fromEntries(fields);
  }
  const isId = Array.isArray(type) && type.includes("integer") && typeof value === "string";
  return isId && parseInt64(value) !== undefined ? new JsonNumber(value) : value;
}

/** An assistant reads all that it gets, so its pages are short. */
const pageItems = { min: 1, initial: 50, max: 200 };
const limitText = "How many items to return at most. If the result has `next`, call again with it.";
const limit = integerParameter("limit", pageItems, limitText, 50);

const hasLimit = ({ parameters = [] }: Contract) => parameters.some(({ name }) => name === "limit");

/** Lists get pages where they have none. Assistants neither follow the feed nor write addresses. */
function parametersOf(contract: Contract, readPage: ReadPage | undefined): readonly Parameter[] {
  const { parameters = [] } = contract;
  const own = parameters.filter((one) => one.in !== "header" && one.name !== "limit");
  const described = own.map((one) => {
    return { ...one, description: one.description.replace(/ [^.]*(?:\bfeed\b|%2B)[^.]*\./g, "") };
  });
  if (!readPage) return described;
  return [...described, ...(hasLimit(contract) ? [] : [after]), limit];
}

/** A tool that returns pages of a list. */
const inPages =
  (readPage: ReadPage): RunTool =>
  async (context, call, { limit: given = pageItems.initial, ...fields }) => {
    const count = readParameter({ limit: given }, limit)!;
    const { items, next } = await readPage(context, call, fields, count);
    // An id is in quotes: it may be larger than 2^53.
    const shown = (_name: string, value: unknown) =>
      typeof value === "bigint" ? `${value}` : value;
    const rest = next ? `,"next":${JSON.stringify(next, shown)}` : "";
    return { status: 200, body: `{"items":[${items.join()}]${rest}}` };
  };

/** A tool that is an operation on one pet or request. */
function runnerOf({ path, handle }: ApiOperation): RunTool {
  const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name!);
  return async (context, call, fields) => {
    const params = Object.fromEntries(names.map((name) => [name, textOf(fields, name) ?? ""]));
    const { signal } = call.request;
    const request = Object.assign(new Request("http://localhost/", { signal }), { params });
    return handle(context, { ...call, request });
  };
}

const shortText: Schema = { type: "string", minLength: 1, maxLength: 160 };

function argument(name: string, description: string, schema = shortText): Parameter {
  return { name, in: "query", description, schema, example: "" };
}

const idempotencyKey = argument(
  "idempotencyKey",
  "A new unique value for every change, such as a UUID. If you call again with it, for example because you got no answer, nothing is changed twice.",
  { type: "string", minLength: 1, maxLength: 255, pattern: "^[ -~]+$" },
);

/** Pets that one call searches. It counts as one request, so its work is bounded. */
const petsSearchedMax = 50_000;

const readStockPage: ReadPage = async ({ store, snapshots }, call, fields, count) => {
  const { catalogue, inventory } = store;
  const isNamed = call.caller.scopes.includes("pets:read");
  const wanted = (textOf(fields, "name") ?? "").toLowerCase();
  if (wanted && !isNamed) throw new ServiceError("insufficient_scope", missingScope("pets:read"));
  const isFound = (pet: object) => "name" in pet && `${pet.name}`.toLowerCase().includes(wanted);
  const rows = wanted ? 1_000 : count + 1;
  const read = isNamed ? catalogue.namedEntriesAfter : inventory.entriesAfter;
  return snapshots.prepare(call, async (signal): Promise<ListPage> => {
    const found: Entry[] = [];
    let last = readParameter(fields, after) ?? null;
    for (let done = 0; done < petsSearchedMax && !signal.aborted; done += rows) {
      const pets: readonly Entry[] = await read(last, rows);
      found.push(...(wanted ? pets.filter(isFound) : pets));
      if (found.length > count || pets.length < rows) return petPage(found, count);
      last = pets.at(-1)!.petId;
      await yieldToEventLoop();
    }
    return petPage(found, count, last ?? undefined);
  });
};

const listStock: DeclaredTool = {
  name: "list_stock",
  description:
    "Lists pets by ascending petId: how many there are, the status, the version, and the name if the key may read names. With `name`, it finds pets by a part of their name. In a large store, one call searches only a part: if the result has `next`, call again with it, even if there are no items.",
  scope: "inventory:read",
  parameters: [argument("name", "Only pets with this in their name."), after, limit],
  run: inPages(readStockPage),
};

/** The session of a call. A key can neither add to a session of another key nor undo it. */
async function sessionOf({ store }: Context, { keyId }: Caller, fields: Fields, now: number) {
  const session = readParameter(fields, sessionParameter);
  if (session === undefined) return undefined;
  const key = keyOfSession(session) === keyId ? await store.keys.findKey(keyId) : undefined;
  // By a clock that was ahead, the key was created in the future.
  if (!key || isOlderThan(session, Math.min(key.createdAt, now))) throw noSuchSession();
  // An undo does not look for changes from before their session.
  if (startOf(session) > now) throw noSuchSession();
  return session;
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

const changeStock: ChangeTool = {
  description:
    "Changes the stock of one or more pets, all or nothing. A change has either `delta`, to add or take away, or `quantity`, the new total. Prefer `delta` for sales and deliveries. With `dryRun`, nothing is stored, and the result shows the stock before and after: do this first. The result of a change has the `session`: give it with later changes, so that undo_session can take back all of them.",
  scope: "inventory:write",
  parameters: [
    { ...argument("changes", "What to change, all or nothing.", changeList), required: true },
    argument("reason", "Why, for people who read it later. Required unless each change has one."),
    dryRun,
    sessionParameter,
  ],
  kind: "stock",
  tries,
  async run(context, call, fields) {
    const { caller, trace, request, isDryRun } = call;
    const now = await context.store.inventory.readClock();
    const found = await sessionOf(context, caller, fields, now);
    const session = found ?? beginSession(caller.keyId, now);
    const shared = textField(fields, "reason")?.trim();
    const changes = readChanges(fields).map(({ reason, ...change }) => {
      const said = reason ?? shared;
      if (said && isReason(markReason(said, session))) return { ...change, reason: said };
      throw invalidRequest(reasonRequired);
    });
    const marked = changes.map((one) => ({ ...one, reason: markReason(one.reason, session) }));
    // Without the session: a client that has got no answer does not know the one that was begun.
    const idempotency = call.identify(canonicalText(changes));
    const { requestId } = call;
    const write = { requestId, signal: request.signal, trace, isDryRun, idempotency };
    const { isReplayed, ...stored } = await applyChanges(context, caller, marked, write);
    const applied = appliedFields(stored);
    if (isDryRun) return { status: 200, body: `{${applied}}` };
    const first = isReplayed ? await firstOf(context, stored.entries[0]!) : { session, requestId };
    const begun = `"session":"${first.session}","requestId":"${first.requestId}"`;
    return { status: 200, body: `{${begun},${isReplayed ? '"isReplayed":true,' : ""}${applied}}` };
  },
};

/** The session and the request of a change that was stored before. */
async function firstOf({ store }: Context, { petId, version }: Entry) {
  const [row] = await store.history.petRows(petId, version, 1);
  return { session: sessionOfRow(row!), requestId: row!.requestId };
}

const undoSession: ChangeTool = {
  description:
    "Takes back all changes of one of your sessions at once, all or nothing. Pets that somebody else has changed since are left out, and the result says so. With `dryRun`, nothing is stored, and the result shows what would happen.",
  scope: "inventory:write",
  parameters: [sessionParameter, dryRun],
  isLong: true,
  kind: "making",
  takesPlace: true,
  tries,
  async run(context, call, fields) {
    const now = await context.store.inventory.readClock();
    const session = await sessionOf(context, call.caller, fields, now);
    if (!session) throw invalidRequest("Argument 'session' is required.");
    return runUndo(context, call, { session, force: false, isByAssistant: true });
  },
};

const changeTools = { change_stock: changeStock, undo_session: undoSession };
export type ChangeToolName = keyof typeof changeTools;
