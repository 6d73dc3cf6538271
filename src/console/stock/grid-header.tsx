import { Icon } from "../parts/icon.tsx";
import { isCounting } from "./counting.ts";
import { sales } from "./lasting.ts";
import type { SortColumn } from "./order.ts";
import { selected, toggleAll } from "./selection.ts";
import { sort, updateOrder, visible } from "./state.ts";

const change = { column: "change", title: "Last change" } as const;
const lasts = { column: "lasts", title: "Lasts until" } as const;

export function GridHeader() {
  const { size } = selected.value;
  const areAll = size > 0 && visible.value.every((row) => selected.value.has(row));
  return (
    <div role="rowgroup" class="grid-head">
      <div role="row" class="grid-row" aria-rowindex={1}>
        <div role="columnheader" class="cell cell-select">
          <input
            type="checkbox"
            class="checkbox"
            aria-label="Select all rows in view"
            checked={areAll}
            ref={(box) => {
              if (box) box.indeterminate = size > 0 && !areAll;
            }}
            onClick={toggleAll}
          />
        </div>
        <Heading column="id" title="Id" />
        <Heading column="name" title="Name" />
        <Heading column="category" title="Category" />
        <Heading column="quantity" title="Quantity" />
        {isCounting.value && (
          <div role="columnheader" class="cell cell-counted">
            Counted
          </div>
        )}
        <Heading column="status" title="Status" />
        <Heading {...(sales.value ? lasts : change)} />
        <div role="columnheader" class="cell cell-actions">
          <span class="visually-hidden">Details</span>
        </div>
      </div>
    </div>
  );
}

interface HeadingProps {
  readonly column: SortColumn;
  readonly title: string;
}

function Heading({ column, title }: HeadingProps) {
  const { column: current, isDescending } = sort.value;
  const isCurrent = column === current;
  const direction = isDescending ? "descending" : "ascending";
  return (
    <div
      role="columnheader"
      class={`cell cell-${column === "lasts" ? "change" : column}`}
      aria-sort={isCurrent ? direction : undefined}
    >
      <button
        type="button"
        class="sort-button"
        onClick={() => {
          // The last changes are what people look for first.
          const startsDescending = column === "change";
          const next = isCurrent ? !isDescending : startsDescending;
          sort.value = { column, isDescending: next };
          updateOrder();
        }}
      >
        {title}
        {isCurrent && <Icon name={isDescending ? "down" : "up"} />}
      </button>
    </div>
  );
}
