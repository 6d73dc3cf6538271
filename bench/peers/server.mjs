// The peer: the specification's two operations and a batch of updates on a typical stack, Fastify on
// Node with schemas, the rate-limit plugin and one statement per update. A batch is one transaction.
// It shares no code with the service.
//
//   node server.mjs --port 8081 --store sqlite:/tmp/peer.db --key KEY [--catalogue FILE.ndjson]
import { parseArgs } from "node:util";
import rateLimit from "@fastify/rate-limit";
import Fastify from "fastify";
import { openPostgres } from "./postgres.mjs";
import { openSqlite } from "./sqlite.mjs";

const { values: flags } = parseArgs({
  options: {
    port: { type: "string" },
    store: { type: "string" },
    key: { type: "string" },
    catalogue: { type: "string" },
  },
});

const store = flags.store.startsWith("postgres")
  ? await openPostgres(flags.store, flags.key, flags.catalogue)
  : await openSqlite(flags.store.replace(/^sqlite:/, ""), flags.key, flags.catalogue);

const item = {
  type: "object",
  required: ["petId", "quantity", "status"],
  properties: {
    petId: { type: "integer" },
    quantity: { type: "integer" },
    status: { type: "string", enum: ["available", "pending", "sold"] },
  },
};
const error = {
  type: "object",
  required: ["code", "message", "status"],
  properties: {
    code: { type: "string" },
    message: { type: "string" },
    status: { type: "integer" },
  },
};

const app = Fastify({ logger: false });

app.addHook("onRequest", async (request, reply) => {
  const [scheme, key] = (request.headers.authorization ?? "").split(" ");
  const known = scheme === "Bearer" && key ? await store.findKey(key) : undefined;
  if (known === undefined) {
    return reply
      .code(401)
      .send({ code: "unauthorized", message: "Missing or invalid API key.", status: 401 });
  }
  request.keyId = known;
});

await app.register(rateLimit, {
  max: 1_000_000_000,
  timeWindow: "1 minute",
  keyGenerator: (request) => request.keyId ?? request.ip,
});

app.get(
  "/v1/inventory",
  { schema: { response: { 200: { type: "array", items: item }, 401: error } } },
  async () => store.listInventory(),
);

app.patch(
  "/v1/inventory/:petId",
  {
    schema: {
      params: { type: "object", properties: { petId: { type: "integer" } } },
      body: {
        type: "object",
        required: ["quantity"],
        properties: { quantity: { type: "integer", minimum: 0 } },
      },
      response: { 200: item, 400: error, 401: error, 404: error },
    },
  },
  async (request, reply) => {
    const entry = await store.updateInventory(request.params.petId, request.body.quantity);
    if (entry === undefined) {
      return reply.code(404).send({ code: "not_found", message: "Pet not found.", status: 404 });
    }
    return entry;
  },
);

app.post(
  "/v1/changes",
  {
    schema: {
      body: {
        type: "object",
        required: ["changes"],
        properties: {
          changes: {
            type: "array",
            minItems: 1,
            maxItems: 1000,
            items: {
              type: "object",
              required: ["petId", "quantity"],
              properties: {
                petId: { type: "integer" },
                quantity: { type: "integer", minimum: 0 },
              },
            },
          },
        },
      },
      response: {
        200: { type: "object", properties: { entries: { type: "array", items: item } } },
        400: error,
        401: error,
        404: error,
      },
    },
  },
  async (request, reply) => {
    const entries = await store.updateAll(request.body.changes);
    if (entries === undefined) {
      return reply.code(404).send({ code: "not_found", message: "Pet not found.", status: 404 });
    }
    return { entries };
  },
);

app.get("/readyz", async () => "ready");

process.on("SIGTERM", async () => {
  await app.close();
  await store.close();
  process.exit(0);
});

await app.listen({ port: Number(flags.port), host: "127.0.0.1" });
