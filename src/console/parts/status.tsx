import { type PetStatus, petStatusValues } from "../client/types.ts";
import { capitalized } from "../texts/formats.ts";

/** The status of an entry. */
export function StatusBadge({ status }: { readonly status: PetStatus }) {
  return <span class={`badge ${status}`}>{capitalized(status)}</span>;
}

export const statusChoices = petStatusValues.map((one) => [one, capitalized(one)] as const);
