import type { Stock } from "./inventory.ts";
import type { NamedRow } from "./store.ts";

/**
 * A ledger row as the API and the commands print it. Written by hand, because JSON.stringify has no
 * exact form for a bigint and takes longer.
 */
export function ledgerRowJson(row: NamedRow): string {
  const key = `"keyId":${JSON.stringify(row.keyId)},"keyName":${JSON.stringify(row.keyName)}`;
  const request = `"reason":${JSON.stringify(row.reason)},"requestId":${JSON.stringify(row.requestId)}`;
  return `{"seq":${row.seq},"petId":${row.petId},"before":${stockJson(row.before)},"after":${stockJson(row.after)},"cause":"${row.cause}",${key},${request},"at":"${new Date(row.at).toISOString()}"}`;
}

export function stockJson(stock: Stock | null): string {
  return stock ? `{"quantity":${stock.quantity},"status":"${stock.status}"}` : "null";
}
