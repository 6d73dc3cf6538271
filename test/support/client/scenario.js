// Uses every feature of the installed package on any service with a few pets and orders. Plain
// JavaScript, so that Node, Bun, Deno and browsers run it without a build step.

/** A message of a webhook that the package `standardwebhooks` signed. */
const message = {
  headers: {
    "webhook-id": "msg_1",
    "webhook-timestamp": "1794736800",
    "webhook-signature": "v1,wWg5PRe4VNQ4kjLjdEEZTi/0NK7mOAvsFyVCgybhHGc=",
  },
  body: '{"type":"inventory.changed","timestamp":"2026-11-15T10:00:00.000Z","data":{"changes":[{"seq":1,"petId":9223372036854775807,"before":null,"after":{"quantity":1,"status":"sold"},"cause":"api","keyId":null,"keyName":null,"reason":"3 °C","requestId":null,"at":"2026-11-15T10:00:00.000Z"}],"cursor":"a-1"}}',
  secret: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
  now: () => 1_794_736_800_000,
};

/**
 * @param {typeof import("../../../client/src/index.ts")} client
 * @param {string} baseUrl
 * @param {string} apiKey
 */
export async function runScenario(
  { PetstoreClient, isApiError, isConflictError, isWebhookVerificationError, verifyWebhook },
  baseUrl,
  apiKey,
) {
  const deprecated = [];
  const client = new PetstoreClient({
    baseUrl,
    apiKey: async () => apiKey,
    hooks: { onDeprecation: ({ operation }) => deprecated.push(operation) },
  });
  const list = await client.listInventory();
  const cached = await client.listInventory();
  const last = list[list.length - 1];
  if (last === undefined) throw new Error("The scenario needs a pet");
  const updated = await client.updateInventory(last.petId, { quantity: last.quantity + 1 });
  const changed = await client.listInventory();
  const pet = await client.getPet(last.petId);
  const page = await client.listOrders({ limit: 1000 });
  const iterated = [];
  for await (const order of client.eachOrder({ limit: 2 })) iterated.push(String(order.id));
  const missing = await client.getPet(-404n).catch((error) => error);
  const unauthorized = new PetstoreClient({ baseUrl, apiKey: "psk_live_wrong" });
  const rejected = await unauthorized.listInventory().catch((error) => error);
  const statuses = [];
  for (const _ of [1, 2]) {
    const { response } = await client.listInventory().withResponse();
    statuses.push(response.status);
  }
  const stale = { ifMatch: updated.etag, reason: "recount at 3 °C" };
  const recounted = await client.updateInventory(last.petId, { quantity: 30 }, stale);
  const conflict = await client
    .updateInventory(last.petId, { quantity: 31 }, stale)
    .catch((error) => error);
  const adjusted = await client.adjustInventory(last.petId, ({ quantity }) => quantity + 2);
  const [sold] = await client.applyChanges([{ petId: last.petId, delta: -1, reason: "sale" }]);
  const reasons = [];
  for await (const row of client.history(last.petId, { limit: 2 })) {
    reasons.push(row.reason);
    if (reasons.length === 3) break;
  }
  const { seq } = await client.ledgerHead();
  const seqs = [];
  for await (const row of client.changes({ after: seq - 3, limit: 2 })) seqs.push(row.seq);
  const watched = [];
  const watch = client.watch({ after: seq - 2 });
  for await (const event of watch) {
    watched.push(event.type === "change" ? event.change.seq - seq : event.type);
    if (event.cursor.endsWith(`-${seq}`)) break;
  }
  const { data } = await verifyWebhook(message.headers, message.body, message.secret, message);
  const forged = await verifyWebhook(
    message.headers,
    `${message.body} `,
    message.secret,
    message,
  ).catch((error) => error);
  const past = await client.snapshot(seq - 1);
  const differences = await client.diff(seq - 1, seq);
  // Node 20 cannot write a large number exactly, so the client writes a string there.
  const lastId = typeof JSON.rawJSON === "function" ? `${last.petId}` : `"${last.petId}"`;
  const parallel = await Promise.all(Array.from({ length: 8 }, () => client.listInventory()));
  return {
    ids: list.map((item) => String(item.petId)),
    isCached: cached.length === list.length && cached.every((item, at) => item === list[at]),
    isUpdated: updated.quantity === last.quantity + 1,
    isUpdateListed: changed[changed.length - 1]?.quantity === updated.quantity,
    isSamePet: pet.id === last.petId,
    orders: page.orders.map((order) => String(order.id)),
    iterated,
    missing: isApiError(missing) && missing.code,
    hasRequestId: isApiError(missing) && typeof missing.requestId === "string",
    unauthorized: isApiError(rejected) && rejected.code,
    parallel: parallel.length,
    isJsonExact: JSON.stringify(list).includes(`"petId":${lastId},`),
    statuses,
    recounted: recounted.quantity,
    conflict: isConflictError(conflict) && conflict.current?.quantity,
    adjusted: adjusted.quantity,
    sold: [String(sold?.petId), sold?.quantity, sold?.version === seq],
    reasons,
    rows: seqs.map((row) => row - seq),
    watched,
    verified: data.changes.map(({ petId, reason }) => [String(petId), reason]),
    forged: isWebhookVerificationError(forged) && forged.reason,
    past: past.find(({ petId }) => petId === last.petId)?.quantity,
    differences: differences.map(({ before, after }) => [before?.quantity, after?.quantity]),
    deprecated,
    hasLimits: client.limits !== undefined && client.limits.remaining < client.limits.limit,
  };
}
