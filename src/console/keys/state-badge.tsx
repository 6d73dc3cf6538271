import { capitalized } from "../texts/capitalized.ts";
import type { KeyState } from "./types.ts";

const tones: Record<KeyState, string> = {
  active: "success",
  banned: "danger",
  expired: "warning",
  revoked: "",
};

export function StateBadge({ state }: { readonly state: KeyState }) {
  return <span class={`badge ${tones[state]}`}>{capitalized(state)}</span>;
}
