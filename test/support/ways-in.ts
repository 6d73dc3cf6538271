// Every way in for what changes something, from the tables of operations and tools.
import { readConfig } from "../../src/config.ts";
import { type Role, roles, type Scope, scopes } from "../../src/domain/keys/keys.ts";
import { type ChangeToolName, createTools } from "../../src/http/mcp/tools.ts";
import type { Kind, Operation } from "../../src/http/pipeline/operation.ts";
import { operationExamples as adminExamples, prepareExamples } from "./admin/operation-examples.ts";
import { operations as adminOperations } from "./admin/operations.ts";
import { issueOperator } from "./admin/operators.ts";
import { type Example, operationExamples } from "./operation-examples.ts";
import { operations } from "./operations.ts";
import type { TestService } from "./service.ts";

/** A request of one way in, as a client sends it. */
export interface Request {
  readonly method: string;
  /** From the root. */
  readonly path: string;
  readonly headers: Record<string, string>;
  readonly body: string;
}

export interface Sent {
  readonly idempotencyKey?: string;
  readonly isDryRun?: boolean;
}

/** One operation or tool that changes something. */
export interface WayIn {
  readonly name: string;
  readonly kind: Kind;
  readonly isTriable: boolean;
  /** Makes what a request needs. Returns how it is written. */
  prepare(service: TestService, key: Key): Promise<(sent: Sent) => Request>;
  /** Requests that are refused, whoever sends them. */
  refused(service: TestService): Promise<readonly Request[]>;
  /** A key that may send its requests, and one that may do everything else. */
  keyFor(service: TestService): Promise<Key>;
  otherKeyFor(service: TestService): Promise<Key>;
}

export interface Key {
  readonly id: string;
  readonly text: string;
}

/** What changes something needs this scope, whatever the tables say. */
const writing: Scope = "inventory:write";
const withoutScope = (service: TestService) =>
  service.issueKey({ scopes: scopes.filter((one) => one !== writing) });

/** The least role of operators that may send a request that changes something, whatever the tables say. */
function leastRole({ path }: Operation): Role {
  if (/^\/(?:keys|webhooks|backups)/.test(path)) return "owner";
  return path === "/session" ? "viewer" : "clerk";
}

/** A request to an operation. `dryRun` is a parameter of the query, or a field of the body. */
function requestOf(
  base: string,
  { method, known, tries }: Operation,
  { path, body = "", headers = {} }: Example,
  given?: Sent,
): Request {
  const { idempotencyKey, isDryRun } = given ?? {};
  const url = new URL(path, "http://shop");
  let sent = body;
  if (tries && given) {
    if (known!.query.includes("dryRun")) url.searchParams.set("dryRun", `${isDryRun === true}`);
    else sent = body.replace("{", `{"dryRun":${isDryRun === true},`);
  }
  return {
    method,
    path: `${base}${path.split("?")[0]}${url.search}`,
    headers: { ...headers, ...(idempotencyKey && { "Idempotency-Key": idempotencyKey }) },
    body: sent,
  };
}

const api = operations
  .filter(({ kind }) => kind)
  .map((operation): WayIn => {
    const { good, bad } = operationExamples[operation.id]!;
    return {
      name: `${operation.id} of the API`,
      kind: operation.kind!,
      isTriable: operation.tries !== undefined,
      prepare: async () => (sent) => requestOf("/v1", operation, good, sent),
      refused: async () => bad.map((one) => requestOf("/v1", operation, one)),
      keyFor: (service) => service.issueKey(),
      otherKeyFor: withoutScope,
    };
  });

const admin = adminOperations
  .filter(({ kind }) => kind)
  .map((operation): WayIn => {
    const { good, bad } = adminExamples[operation.id]!;
    const role = leastRole(operation);
    const least = roles[roles.indexOf(role) - 1];
    return {
      name: `${operation.id} of the operator API`,
      kind: operation.kind!,
      isTriable: operation.tries !== undefined,
      async prepare(service) {
        const fill = await prepareExamples(service, operation.id);
        return (sent) => requestOf("/admin", operation, fill(good), sent);
      },
      async refused(service) {
        const fill = await prepareExamples(service, operation.id);
        return bad.map((one) => requestOf("/admin", operation, fill(one)));
      },
      keyFor: (service) => issueOperator(service, "Ada", "production", role),
      // Without a lower role, everybody with an operator key may.
      otherKeyFor: (service) =>
        least ? issueOperator(service, "Bob", "production", least) : service.issueKey(),
    };
  });

type Arguments = Readonly<Record<string, unknown>>;

/** A tool without examples does not compile. */
const toolExamples: Record<
  ChangeToolName,
  {
    good(service: TestService, key: Key): Promise<Arguments>;
    readonly bad: readonly Arguments[];
  }
> = {
  change_stock: {
    good: async () => ({ changes: [{ petId: 1, delta: 1 }], reason: "sale" }),
    bad: [
      { changes: [{ petId: 1, delta: 1 }] },
      { changes: [{ petId: 404, delta: 1 }], reason: "sale" },
      { changes: [{ petId: 2, delta: -1_000 }], reason: "sale" },
      { changes: [{ petId: 1, delta: 1 }], reason: "sale", dryRun: 1 },
      { changes: [{ petId: 1, delta: 1 }], reason: "sale", idempotencyKey: "" },
    ],
  },
  undo_session: {
    async good(service, key) {
      const changes = [{ petId: 2, delta: 1 }];
      const { method, path, ...sent } = toolRequest("change_stock", { changes, reason: "sale" });
      const { text } = await service.call(method, `~${path}`, { ...sent, key: key.text });
      return { session: /ses_\w+/.exec(text)![0] };
    },
    bad: [{}, { session: "ses_none" }, { session: "ses_a_1_aaaaaa" }],
  },
};

/** In the revision before the current one, without a session. */
function toolRequest(name: string, given: Arguments): Request {
  const message = { jsonrpc: "2.0", id: 1, method: "tools/call" };
  return {
    ...{ method: "POST", path: "/mcp" },
    headers: { "MCP-Protocol-Version": "2025-11-25", "Content-Type": "application/json" },
    body: JSON.stringify({ ...message, params: { name, arguments: given } }),
  };
}

const tools = createTools(readConfig({}, {})).flatMap(({ name, change }): WayIn[] => {
  if (!change) return [];
  const { good, bad } = toolExamples[name as ChangeToolName];
  return [
    {
      name: `${name} of assistants`,
      kind: change.kind,
      isTriable: change.tries !== undefined,
      async prepare(service, key) {
        const given = await good(service, key);
        return ({ isDryRun, ...sent }) =>
          toolRequest(name, { ...given, ...sent, ...(isDryRun && { dryRun: true }) });
      },
      refused: async () => bad.map((given) => toolRequest(name, given)),
      keyFor: (service) => service.issueKey(),
      otherKeyFor: withoutScope,
    },
  ];
});

export const waysIn: readonly WayIn[] = [...api, ...admin, ...tools];
