import { readBody } from "./body.js";
import type { Transport } from "./call.js";
import { decodeInventory } from "./decode.js";
import { decodeDifferences } from "./decode-ledger.js";
import { formatMoment, type Moment } from "./moment.js";
import type { CallOptions } from "./options.js";
import { pathWithQuery } from "./pages.js";
import type { WithResponse } from "./promise.js";
import { sendWithRetries } from "./retry.js";
import type { InventoryDifference, InventoryItem } from "./types.js";

export async function getSnapshot(
  transport: Transport,
  moment: Moment,
  options: CallOptions,
): Promise<WithResponse<InventoryItem[]>> {
  const path = `/snapshots/${encodeURIComponent(formatMoment("moment", moment))}`;
  const call = { operation: "getSnapshot", method: "GET", path } as const;
  const response = await sendWithRetries(transport, call, options);
  return { value: readBody(response, decodeInventory), response };
}

export async function getDiff(
  transport: Transport,
  from: Moment,
  to: Moment,
  options: CallOptions,
): Promise<WithResponse<InventoryDifference[]>> {
  const base = `/snapshots/${encodeURIComponent(formatMoment("from", from))}/diff`;
  const path = pathWithQuery(base, { to: formatMoment("to", to) });
  const call = { operation: "getDiff", method: "GET", path } as const;
  const response = await sendWithRetries(transport, call, options);
  return { value: readBody(response, decodeDifferences), response };
}
