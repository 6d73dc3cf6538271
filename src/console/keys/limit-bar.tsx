import type { KeyUse } from "../client/types.ts";
import { formatCount } from "../texts/formats.ts";

const nearShare = 0.8;

/** How much of a limit is used. The color changes near the limit. */
export function LimitBar({ label, used, limit }: KeyUse & { readonly label: string }) {
  const share = used / limit;
  const tone = share >= 1 ? "danger" : share >= nearShare ? "warning" : "";
  return (
    <div class="limit-bar" data-tone={tone}>
      <span class="limit-text small">
        {formatCount(used)} <span class="muted">of {formatCount(limit)}</span>
      </span>
      <progress
        class={`meter ${tone}`}
        aria-label={label}
        value={Math.min(used, limit)}
        max={limit}
      />
    </div>
  );
}
