import { useSignal } from "@preact/signals";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { Icon } from "../parts/icon.tsx";
import { headerHeight, rowHeight } from "../parts/layout.ts";
import { useRowWindow } from "../parts/virtual-rows.ts";
import { ConflictPanel } from "./conflict-panel.tsx";
import { isCounting } from "./counting.ts";
import { editing, editPlace } from "./editing.ts";
import { focusRequests, giveFocus } from "./focus.ts";
import { GridRow } from "./grid-row.tsx";
import { handleKey } from "./keyboard.ts";
import { sales } from "./lasting.ts";
import type { SortColumn } from "./order.ts";
import { active, columns, selected, toggleAll } from "./selection.ts";
import { indexOfPet, isOrderStale, sort, table, updateOrder, visible } from "./state.ts";

/** All entries. Only the rows in view exist as elements. */
export function Grid() {
  const scroller = useRef<HTMLDivElement>(null);
  const hasFocus = useSignal(false);
  const rows = visible.value;
  const size = rowHeight.value;

  useLayoutEffect(giveFocus, [focusRequests.value]);

  // Rows do not move while somebody works with them.
  const isIdle = !hasFocus.value && !editing.value && selected.value.size === 0;
  useEffect(() => {
    if (isIdle && isOrderStale.value) updateOrder();
  });

  const { first, end } = useRowWindow(scroller, rows.length, size);
  const indexes = Array.from({ length: end - first }, (_, offset) => first + offset);
  // The active row and the edited one keep their focus and their fields when they are scrolled away.
  const edit = editPlace.value === "row" ? editing.value : undefined;
  const editedIndex = edit ? indexOfPet(edit.base.petId) : -1;
  const activeIndex = Math.min(active.value.index, rows.length - 1);
  for (const index of new Set([activeIndex, editedIndex])) {
    if (index >= 0 && (index < first || index >= end)) indexes.push(index);
  }

  return (
    <div
      class={`grid-scroller ${isCounting.value ? "is-counting" : ""}`}
      ref={scroller}
      onFocusCapture={() => (hasFocus.value = true)}
      onBlurCapture={(event) =>
        (hasFocus.value = event.currentTarget.contains(event.relatedTarget as Node | null))
      }
    >
      <div
        role="grid"
        aria-label="Stock"
        aria-rowcount={rows.length + 1}
        aria-colcount={columns.length + (isCounting.value ? 1 : 0)}
        aria-multiselectable="true"
        onKeyDown={(event) => handleKey(event, scroller.current!)}
      >
        <GridHeader />
        <div role="rowgroup" class="grid-body" style={{ height: `${rows.length * size}px` }}>
          {indexes.map((index) => (
            <GridRow
              key={table.value.ids[rows[index]!]}
              row={rows[index]!}
              index={index}
              top={index * size}
              isActive={index === activeIndex}
              edit={index === editedIndex ? edit : undefined}
            />
          ))}
        </div>
      </div>
      {edit?.theirs && (
        <ConflictPanel
          edit={edit}
          theirs={edit.theirs}
          top={headerHeight + (editedIndex + 1) * size}
        />
      )}
    </div>
  );
}

const change = { column: "change", title: "Last change" } as const;
const lasts = { column: "lasts", title: "Lasts until" } as const;

function GridHeader() {
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
