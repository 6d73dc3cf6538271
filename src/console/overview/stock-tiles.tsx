import { Sparkline } from "../charts/sparkline.tsx";
import type { Service } from "../client/types.ts";
import { petStatusValues } from "../client/types.ts";
import { hrefOf } from "../page/router.ts";
import { StatusBadge } from "../parts/status.tsx";
import { capitalized, countOf, formatCount } from "../texts/formats.ts";

/** The stock by status, and how much has changed lately. */
export function StockTiles({ facts }: { readonly facts: Service }) {
  const { stock, lowEntries, changesPerMinute } = facts;
  const changes = changesPerMinute.reduce((sum, count) => sum + count, 0);
  const lastMinute = changesPerMinute.at(-1) ?? 0;
  const total = petStatusValues.reduce((sum, status) => sum + stock[status].quantity, 0);
  return (
    <section class="grid" aria-label="Stock">
      {petStatusValues.map((status) => {
        const { entries, quantity } = stock[status];
        return (
          <div class="card tile" key={status}>
            <h2 class="card-title">
              <StatusBadge status={status} />
            </h2>
            <p class="stat">{formatCount(quantity)}</p>
            <p class="small muted">in {countOf(entries, "entry", "entries")}</p>
            <progress
              class="meter"
              aria-label={`${capitalized(status)}: part of the whole stock`}
              max={Math.max(1, total)}
              value={quantity}
            />
          </div>
        );
      })}
      <div class="card tile">
        <h2 class="card-title">Low stock</h2>
        <p class="stat">{formatCount(lowEntries)}</p>
        <p class="small muted">at or below threshold</p>
        <a class="small" href={hrefOf("/stock?low")}>
          Show in Stock
        </a>
      </div>
      <div class="card tile">
        <h2 class="card-title">Changes in the last hour</h2>
        <p class="stat">{formatCount(changes)}</p>
        <p class="small muted">{formatCount(lastMinute)} this minute</p>
        <Sparkline
          title={`Changes per minute in the last hour, at most ${Math.max(0, ...changesPerMinute)}`}
          values={changesPerMinute}
        />
      </div>
    </section>
  );
}
