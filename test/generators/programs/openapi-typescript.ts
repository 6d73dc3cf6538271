import createClient from "openapi-fetch";
import { type CallResults, largeQuantity, type Same, unknownId, wideId } from "./call-results.ts";
import type { components, paths } from "./schema.ts";

export async function callService(baseUrl: string, key: string): Promise<CallResults> {
  const client = createClient<paths, "application/json">({
    baseUrl,
    headers: { Authorization: `Bearer ${key}` },
  });
  const listed = await client.GET("/inventory");
  const body = { quantity: largeQuantity };
  const updated = await client.PATCH("/inventory/{petId}", {
    params: { path: { petId: 7 } },
    body,
  });
  const refused = await client.PATCH("/inventory/{petId}", {
    params: { path: { petId: unknownId } },
    body,
  });
  const isError: Same<NonNullable<typeof refused.error>, components["schemas"]["Error"]> = true;
  if (!isError || !refused.error) throw new Error("an update of an unknown pet did not fail");
  const wide = await client.PATCH("/inventory/{petId}", {
    // The generated type is number, which cannot represent this id. The client sends a bigint exactly.
    params: { path: { petId: wideId as unknown as number } },
    body,
    parseAs: "text",
  });
  const name = `"${globalThis.crypto.randomUUID()}"`;
  const apply = () =>
    client.POST("/changes", {
      params: { header: { "Idempotency-Key": name } },
      body: { changes: [{ petId: 7, delta: -1, reason: "sale" }] },
    });
  const applied = [await apply(), await apply()];
  const changes = await client.GET("/changes", { params: { query: { limit: 1 } } });
  const ordered = await client.GET("/store/orders", { params: { query: { limit: 10 } } });
  return {
    listed: listed.data!,
    updated: updated.data!,
    refused: refused.error,
    wide: wide.data!,
    applied: applied.map(({ data }) => data!),
    created: changes.data![0]!,
    ordered: ordered.data!,
  };
}
