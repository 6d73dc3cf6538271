// What every platform must be able to do with the installed package, against any service that has
// a few pets and orders. Plain JavaScript, so that Node, Bun, Deno and a browser run it as it stands.

/**
 * @param {typeof import("../../../client/src/index.ts")} client
 * @param {string} baseUrl
 * @param {string} apiKey
 */
export async function journey({ PetstoreClient, isApiError }, baseUrl, apiKey) {
  const warnings = [];
  const shop = new PetstoreClient({
    baseUrl,
    apiKey: async () => apiKey,
    hooks: { onDeprecation: ({ operation }) => warnings.push(operation) },
  });
  const list = await shop.listInventory();
  const again = await shop.listInventory();
  const last = list[list.length - 1];
  if (last === undefined) throw new Error("The journey needs a pet");
  const updated = await shop.updateInventory(last.petId, { quantity: last.quantity + 1 });
  const after = await shop.listInventory();
  const pet = await shop.getPet(last.petId);
  const all = await shop.listOrders({ limit: 1000 });
  const paged = [];
  for await (const order of shop.eachOrder({ limit: 2 })) paged.push(String(order.id));
  const missing = await shop.getPet(-404n).catch((error) => error);
  const stranger = new PetstoreClient({ baseUrl, apiKey: "psk_live_wrong" });
  const refused = await stranger.listInventory().catch((error) => error);
  const statuses = [];
  for (const _ of [1, 2]) {
    const { response } = await shop.listInventory().withResponse();
    statuses.push(response.status);
  }
  // Node 20 cannot write a long number exactly, and the client writes a string there.
  const long = typeof JSON.rawJSON === "function" ? `${last.petId}` : `"${last.petId}"`;
  const parallel = await Promise.all(Array.from({ length: 8 }, () => shop.listInventory()));
  return {
    ids: list.map((item) => String(item.petId)),
    isKept: again.length === list.length && again.every((item, at) => item === list[at]),
    isUpdated: updated.quantity === last.quantity + 1,
    isSeen: after[after.length - 1]?.quantity === updated.quantity,
    isSamePet: pet.id === last.petId,
    orders: all.orders.map((order) => String(order.id)),
    paged,
    missing: isApiError(missing) && missing.code,
    hasRequestId: isApiError(missing) && typeof missing.requestId === "string",
    refused: isApiError(refused) && refused.code,
    parallel: parallel.length,
    isWritten: JSON.stringify(list).includes(`"petId":${long},`),
    statuses,
    warnings,
    hasLimits: shop.limits !== undefined && shop.limits.remaining < shop.limits.limit,
  };
}
