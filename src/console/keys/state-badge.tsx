import type { KeyState } from "../client/types.ts";
import { capitalized } from "../texts/capitalized.ts";

const tones: Record<KeyState, string> = {
  active: "success",
  banned: "danger",
  expired: "warning",
  revoked: "",
};

export function StateBadge({ state }: { readonly state: KeyState }) {
  return <span class={`badge ${tones[state]}`}>{capitalized(state)}</span>;
}
