import createClient from "openapi-fetch";
import { type Journey, largeQuantity, type Same, unknownId, wideId } from "./journey.ts";
import type { components, paths } from "./schema.ts";

export async function travel(baseUrl: string, key: string): Promise<Journey> {
  const client = createClient<paths>({ baseUrl, headers: { Authorization: `Bearer ${key}` } });
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
  if (!isError || !refused.error) throw new Error("an update of an unknown pet was not refused");
  const wide = await client.PATCH("/inventory/{petId}", {
    // The generated type is number, which cannot hold this id; the client writes a bigint as it is.
    params: { path: { petId: wideId as unknown as number } },
    body,
    parseAs: "text",
  });
  const ordered = await client.GET("/store/orders", { params: { query: { limit: 10 } } });
  return {
    listed: listed.data!,
    updated: updated.data!,
    refused: refused.error,
    wide: wide.data!,
    ordered: ordered.data!,
  };
}
