import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useRef } from "preact/hooks";
import type { Stock } from "../client/types.ts";
import { hrefOf } from "../page/router.ts";
import { rowHeight } from "../parts/layout.ts";
import { SearchField } from "../parts/search-field.tsx";
import { StatusBadge } from "../parts/status.tsx";
import { useRowWindow } from "../parts/virtual-rows.ts";
import { formatCount, signed } from "../texts/formats.ts";
import { type MomentRow, searchRows } from "./moment-rows.ts";

const columns = ["Id", "Name", "Then", "Now", "Difference"];

/** Pets with their stock then and now, and a search. */
export function MomentTable({ rows }: { readonly rows: readonly MomentRow[] }) {
  const text = useSignal("");
  const shown = searchRows(rows, text.value);
  return (
    <>
      <SearchField
        label="Search these pets by id or name"
        placeholder="Search by id or name"
        text={text}
      />
      {shown.length === 0 ? <p class="muted">No pet matches.</p> : <Rows rows={shown} />}
    </>
  );
}

/** Only the rows in view exist as elements. */
function Rows({ rows }: { readonly rows: readonly MomentRow[] }) {
  const scroller = useRef<HTMLDivElement>(null);
  const height = rowHeight.value;
  const { first, end } = useRowWindow(scroller, rows.length, height);
  return (
    <section
      class="grid-scroller moment-rows"
      ref={scroller}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, so the keyboard has to reach it.
      tabIndex={0}
      aria-label="Pets then and now"
    >
      {/* A table element would need all its rows. */}
      {/* biome-ignore-start lint/a11y/useSemanticElements: see above. */}
      {/* biome-ignore-start lint/a11y/useFocusableInteractive: rows and cells are no controls. */}
      <div role="table" aria-label="Pets then and now" aria-rowcount={rows.length + 1}>
        <div role="rowgroup" class="grid-head">
          <div role="row" class="grid-row" aria-rowindex={1}>
            {columns.map((column) => (
              <div role="columnheader" class="cell" key={column}>
                {column}
              </div>
            ))}
          </div>
        </div>
        <div role="rowgroup" class="grid-body" style={{ height: `${rows.length * height}px` }}>
          {rows.slice(first, end).map((row, offset) => (
            <div
              role="row"
              class="grid-row"
              key={row.petId}
              aria-rowindex={first + offset + 2}
              style={{ transform: `translateY(${(first + offset) * height}px)` }}
            >
              <Cells row={row} />
            </div>
          ))}
        </div>
      </div>
      {/* biome-ignore-end lint/a11y/useFocusableInteractive: see above. */}
      {/* biome-ignore-end lint/a11y/useSemanticElements: see above. */}
    </section>
  );
}

function Cells({ row }: { readonly row: MomentRow }) {
  const { petId, name, before, now } = row;
  const difference = (now?.quantity ?? 0) - (before?.quantity ?? 0);
  return (
    <>
      <Cell class="mono">
        <a href={hrefOf(`/history/${petId}`)}>{petId}</a>
      </Cell>
      <Cell>
        <bdi class="ellipsis">{name === "" ? <span class="muted">Removed</span> : name}</bdi>
      </Cell>
      <Cell label="then">
        <StockText stock={before} none="Not there yet" />
      </Cell>
      <Cell label="now">
        <StockText stock={now} none="Removed" />
      </Cell>
      <Cell class={difference > 0 ? "gain" : difference < 0 ? "loss" : ""}>
        {difference === 0 ? <span class="muted">0</span> : signed(difference)}
      </Cell>
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

interface CellProps {
  readonly class?: string;
  /** Stands before the content on a phone, which shows no column headers. */
  readonly label?: string;
  readonly children: ComponentChildren;
}

function Cell(props: CellProps) {
  return (
    // biome-ignore lint/a11y/useSemanticElements: a table element would need all its rows.
    <div role="cell" class={`cell ${props.class ?? ""}`} data-label={props.label}>
      {props.children}
    </div>
  );
}
