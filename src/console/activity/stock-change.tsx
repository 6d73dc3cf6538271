import type { Stock } from "../client/types.ts";
import { StatusBadge } from "../parts/status.tsx";
import { formatCount, signed } from "../texts/formats.ts";

interface Props {
  readonly before: Stock | null;
  readonly after: Stock | null;
}

/** The quantity and the status before and after a change. */
export function StockChange({ before, after }: Props) {
  if (!before || !after) {
    const stock = before ?? after;
    if (!stock) return <span class="muted">nothing</span>;
    return (
      <span>
        <span class="muted">{before ? "removed with" : "new with"}</span>{" "}
        <strong>{formatCount(stock.quantity)}</strong> <StatusBadge status={stock.status} />
      </span>
    );
  }
  const difference = after.quantity - before.quantity;
  return (
    <span>
      {difference === 0 ? (
        <strong>{formatCount(after.quantity)}</strong>
      ) : (
        <>
          {formatCount(before.quantity)} <span class="muted">→</span>{" "}
          <strong>{formatCount(after.quantity)}</strong>{" "}
          <span class={difference > 0 ? "gain" : "loss"}>{signed(difference)}</span>
        </>
      )}
      {after.status !== before.status && (
        <>
          {" "}
          <StatusBadge status={before.status} /> <span class="muted">→</span>{" "}
          <StatusBadge status={after.status} />
        </>
      )}
      {difference === 0 && after.status === before.status && <span class="muted">confirmed</span>}
    </span>
  );
}
