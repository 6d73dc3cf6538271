import type { Stock } from "../client/types.ts";
import { StatusBadge } from "../parts/status.tsx";
import { formatCount } from "../texts/formats.ts";

interface Props {
  readonly before: Stock | null;
  readonly after: Stock | null;
}

/** The quantity and the status before and after a change. */
export function StockChange({ before, after }: Props) {
  if (!before && !after) return <span class="muted">nothing</span>;
  if (!before) {
    return (
      <span class="stock-change">
        <span class="muted">new with</span> <Amount stock={after!} />
      </span>
    );
  }
  if (!after) {
    return (
      <span class="stock-change">
        <span class="muted">removed with</span> <Amount stock={before} />
      </span>
    );
  }
  const difference = after.quantity - before.quantity;
  return (
    <span class="stock-change">
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

function Amount({ stock }: { readonly stock: Stock }) {
  return (
    <>
      <strong>{formatCount(stock.quantity)}</strong> <StatusBadge status={stock.status} />
    </>
  );
}

/** With a real minus sign, as wide as a plus. */
export function signed(difference: number): string {
  return difference < 0 ? `−${formatCount(-difference)}` : `+${formatCount(difference)}`;
}
