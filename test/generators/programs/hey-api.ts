import { type CallResults, largeQuantity, type Same, unknownId, wideId } from "./call-results.ts";
import { client } from "./hey/client.gen.ts";
import {
  applyChanges,
  listChanges,
  listInventory,
  listOrders,
  updateInventory,
} from "./hey/sdk.gen.ts";
import type { Error as ErrorBody } from "./hey/types.gen.ts";

export async function callService(baseUrl: string, key: string): Promise<CallResults> {
  client.setConfig({ baseUrl, auth: key });
  const listed = await listInventory();
  const body = { quantity: largeQuantity };
  const updated = await updateInventory({ path: { petId: 7 }, body });
  const refused = await updateInventory({ path: { petId: unknownId }, body });
  const isError: Same<NonNullable<typeof refused.error>, ErrorBody> = true;
  if (!isError || !refused.error) throw new Error("an update of an unknown pet did not fail");
  const wide = await updateInventory({
    // The generated type is number, which cannot represent this id. The client sends a bigint exactly.
    path: { petId: wideId as unknown as number },
    body,
    parseAs: "text",
  });
  const name = `"${globalThis.crypto.randomUUID()}"`;
  const apply = () =>
    applyChanges({
      headers: { "Idempotency-Key": name },
      body: { changes: [{ petId: 7, delta: -1, reason: "sale" }] },
    });
  const applied = [await apply(), await apply()];
  const changes = await listChanges({ query: { limit: 1 } });
  const ordered = await listOrders({ query: { limit: 10 } });
  return {
    listed: listed.data!,
    updated: updated.data!,
    refused: refused.error,
    wide: String(wide.data),
    applied: applied.map(({ data }) => data!),
    created: changes.data![0]!,
    ordered: ordered.data!,
  };
}
