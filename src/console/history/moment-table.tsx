import { useSignal } from "@preact/signals";
import { signed } from "../activity/stock-change.tsx";
import type { Stock } from "../client/types.ts";
import { hrefOf } from "../page/router.ts";
import { Icon } from "../parts/icon.tsx";
import { rowHeight } from "../parts/layout.ts";
import { StatusBadge } from "../parts/status-badge.tsx";
import { VirtualCell, VirtualTable } from "../parts/virtual-table.tsx";
import { formatCount } from "../texts/numbers.ts";
import { type MomentRow, searchRows } from "./moment-rows.ts";

const columns = ["Id", "Name", "Then", "Now", "Difference"];

/** Pets with their stock then and now. */
export function MomentTable({ rows }: { readonly rows: readonly MomentRow[] }) {
  const text = useSignal("");
  const shown = searchRows(rows, text.value);
  return (
    <>
      <div class="search-field">
        <Icon name="search" />
        <input
          class="input"
          type="search"
          placeholder="Search by id or name"
          aria-label="Search these pets by id or name"
          autocomplete="off"
          spellcheck={false}
          onInput={(event) => {
            text.value = event.currentTarget.value;
          }}
        />
      </div>
      {shown.length === 0 ? (
        <p class="muted">No pet matches.</p>
      ) : (
        <VirtualTable
          label="Pets then and now"
          columns={columns}
          count={shown.length}
          rowHeight={rowHeight.value}
          keyOf={(index) => shown[index]!.petId}
          cellsOf={(index) => <Cells row={shown[index]!} />}
        />
      )}
    </>
  );
}

function Cells({ row }: { readonly row: MomentRow }) {
  const { petId, name, before, now } = row;
  const difference = (now?.quantity ?? 0) - (before?.quantity ?? 0);
  return (
    <>
      <VirtualCell class="mono">
        <a href={hrefOf(`/history/${petId}`)}>{petId}</a>
      </VirtualCell>
      <VirtualCell>
        <bdi class="cut">{name === "" ? <span class="muted">Removed</span> : name}</bdi>
      </VirtualCell>
      <VirtualCell label="then">
        <StockText stock={before} none="Not there yet" />
      </VirtualCell>
      <VirtualCell label="now">
        <StockText stock={now} none="Removed" />
      </VirtualCell>
      <VirtualCell class={difference > 0 ? "gain" : difference < 0 ? "loss" : ""}>
        {difference === 0 ? <span class="muted">0</span> : signed(difference)}
      </VirtualCell>
    </>
  );
}

function StockText({ stock, none }: { readonly stock: Stock | null; readonly none: string }) {
  if (!stock) return <span class="muted">{none}</span>;
  return (
    <>
      {formatCount(stock.quantity)} <StatusBadge status={stock.status} />
    </>
  );
}
