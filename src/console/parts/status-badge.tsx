import type { PetStatus } from "../client/types.ts";
import { capitalized } from "../texts/capitalized.ts";

/** The status of an entry. */
export function StatusBadge({ status }: { readonly status: PetStatus }) {
  return <span class={`badge ${status}`}>{capitalized(status)}</span>;
}
