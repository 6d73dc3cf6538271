import { expect, test } from "bun:test";
import { type Operation, PetstoreClient } from "../../client/src/index.ts";
import document from "../../openapi.json";

interface Parameter {
  readonly name: string;
  readonly in: string;
}

interface Contract {
  readonly operationId: string;
  readonly parameters?: readonly (Parameter | { readonly $ref: string })[];
}

/** What a call of each operation sends if it has every option. A new operation does not compile without. */
const calls: Readonly<Record<Operation, (client: PetstoreClient) => Promise<unknown>>> = {
  listInventory: (client) => client.listInventory(),
  getInventory: (client) => client.getInventory(7n),
  updateInventory: (client) =>
    client.updateInventory(7n, { quantity: 1 }, { ifMatch: '"a-1"', reason: "count" }),
  listHistory: (client) => client.listHistory(7n, range),
  listChanges: (client) => client.listChanges({ ...range, cause: "api", key: "key_1" }),
  applyChanges: (client) => client.applyChanges([{ petId: 7n, delta: 1 }]),
  getLedgerHead: (client) => client.ledgerHead(),
  getRequest: (client) => client.getRequest("req_5f0c1e9a2b7d_42"),
  getSnapshot: (client) => client.snapshot(1),
  getDiff: (client) => client.diff(1, 2),
  getPet: (client) => client.getPet(7n),
  listOrders: (client) => client.listOrders({ limit: 1, after: 1n }),
};

const range = { limit: 1, after: 1, before: 9, since: new Date(0), until: new Date(1) };

/** Sent by `watch`, and what only the cache of the list needs. */
const ofOtherCalls = ["Last-Event-ID", "If-None-Match"];

test("the client has every operation of the contract, with every parameter", async () => {
  const sent: Request[] = [];
  const client = new PetstoreClient({
    baseUrl: "http://127.0.0.1:1/v1",
    apiKey: "x",
    attemptsMax: 1,
    fetch: async (url, init) => {
      sent.push(new Request(url, init));
      throw new TypeError("recorded");
    },
  });
  const shared = document.components.parameters as Record<string, Parameter>;
  for (const [path, methods] of Object.entries(document.paths)) {
    for (const [method, operation] of Object.entries(methods as Record<string, Contract>)) {
      await calls[operation.operationId as Operation](client).catch(() => {});
      const request = sent.pop()!;
      const { pathname, searchParams } = new URL(request.url);
      expect(request.method).toBe(method.toUpperCase());
      expect(pathname).toMatch(new RegExp(`^/v1${path.replace(/\{\w+\}/g, "[^/]+")}$`));
      const parameters = (operation.parameters ?? []).map((one) =>
        "$ref" in one ? shared[one.$ref.split("/").at(-1)!]! : one,
      );
      const isSent = ({ name, in: place }: Parameter) =>
        place === "query" ? searchParams.has(name) : place === "path" || request.headers.has(name);
      const missing = parameters.filter((one) => !isSent(one)).map(({ name }) => name);
      // A condition on a read: the client has the ETag of the list, and needs no other.
      const known = method === "get" ? [...ofOtherCalls, "If-Match"] : ofOtherCalls;
      const { operationId } = operation;
      expect({ operationId, missing: missing.filter((name) => !known.includes(name)) }).toEqual({
        operationId,
        missing: [],
      });
    }
  }
});
