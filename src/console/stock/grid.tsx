import { useSignal } from "@preact/signals";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { may } from "../client/session.ts";
import { hrefOf } from "../page/router.ts";
import { Button } from "../parts/button.tsx";
import { Icon } from "../parts/icon.tsx";
import { headerHeight, isNarrow, rowHeight } from "../parts/layout.ts";
import { whoOf } from "../parts/origins.ts";
import { StatusBadge } from "../parts/status.tsx";
import { Time } from "../parts/time.tsx";
import { useRowWindow } from "../parts/virtual-rows.ts";
import { changeNumber, formatCount } from "../texts/formats.ts";
import { counts, isCounting } from "./counting.ts";
import { ConflictPanel, CountedCell, EditFields } from "./edit-fields.tsx";
import { type Editing, editing, editPlace, tryEditing } from "./editing.ts";
import { cellId, focusRequests, giveFocus } from "./focus.ts";
import { handleKey } from "./keyboard.ts";
import { lastsUntil, sales } from "./lasting.ts";
import type { SortColumn } from "./order.ts";
import {
  active,
  type Column,
  columns,
  selected,
  selectRange,
  startRange,
  toggle,
  toggleAll,
} from "./selection.ts";
import {
  current,
  indexOfPet,
  isLow,
  isOrderStale,
  openPetDialog,
  sort,
  table,
  updateOrder,
  visible,
} from "./state.ts";
import type { StockTable } from "./table.ts";

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

function Heading({ column, title }: { readonly column: SortColumn; readonly title: string }) {
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

interface Props {
  readonly row: number;
  /** The place in the list. */
  readonly index: number;
  /** In pixels. */
  readonly top: number;
  readonly isActive: boolean;
  /** Undefined unless this row is being edited here. */
  readonly edit: Editing | undefined;
}

/** One entry. */
function GridRow({ row, index, top, isActive, edit }: Props) {
  const { entries } = current.value;
  const { petId, name, category, quantity, status } = entries.entryAt(row);
  const isSelected = selected.value.has(row);
  const change = entries.lastChanges.get(row);
  const lasts = lastsUntil(petId, quantity);
  const cell = (column: Column, kind = "") => ({
    role: "gridcell" as const,
    id: cellId(index, column),
    class: `cell cell-${column} ${kind}`,
    tabIndex: isActive && active.value.column === column ? 0 : -1,
    onFocus: () => (active.value = { index, column }),
  });
  const select = (event: MouseEvent) => {
    if (event.shiftKey) selectRange(index);
    else toggle(index);
  };
  return (
    <div
      role="row"
      class={`grid-row ${isSelected ? "is-selected" : ""} ${edit ? "is-editing" : ""}`}
      aria-rowindex={index + 2}
      aria-selected={isSelected}
      style={{ transform: `translateY(${top}px)` }}
      data-pet={petId}
      onMouseDown={(event) => {
        // Selecting a range of rows must not select text.
        if (event.shiftKey) event.preventDefault();
        startRange(index);
      }}
    >
      {/* The animation starts again with each change, because its element is new. */}
      {change?.isLive && <span key={change.seq} class="change-mark is-changed" />}
      <div {...cell("select")} onClick={select}>
        <input
          type="checkbox"
          class="checkbox"
          tabIndex={-1}
          checked={isSelected}
          aria-label={`Select ${name}`}
        />
      </div>
      <div {...cell("id", "mono small")}>{petId}</div>
      <div {...cell("name")} onClick={() => isNarrow.value && tryEditing(row, "quantity")}>
        {isCounting.value && counts.value.has(petId) && <Icon name="check" />}
        <bdi class="name-text ellipsis">{name}</bdi>
        <span class="name-id ellipsis">
          {[petId, lasts?.text ?? category].filter(Boolean).join(" · ")}
        </span>
      </div>
      <div {...cell("category", "small")}>
        <bdi class="ellipsis">{category}</bdi>
      </div>
      {edit ? (
        <EditFields edit={edit} index={index} />
      ) : (
        <>
          <div {...cell("quantity", "number")} onClick={() => tryEditing(row, "quantity")}>
            {isLow(row, entries) && <span class="badge warning">Low</span>}
            <span class={may("clerk") ? "editable" : ""}>{formatCount(quantity)}</span>
          </div>
          {isCounting.value && <CountedCell petId={petId} />}
          <div {...cell("status")} onClick={() => tryEditing(row, "status")}>
            <StatusBadge status={status} />
          </div>
          <div {...cell("change", "small")}>
            <a href={hrefOf(`/history/${petId}`)} tabIndex={-1} title={`History of ${name}`}>
              {sales.value ? <Lasting {...lasts} /> : <LastChange row={row} entries={entries} />}
            </a>
          </div>
        </>
      )}
      <div role="gridcell" class="cell cell-actions">
        <Button
          kind="quiet"
          isSmall
          icon={may("clerk") ? "edit" : "audit"}
          tabIndex={-1}
          label={`Details of ${name}`}
          onClick={() => openPetDialog(petId)}
        />
      </div>
    </div>
  );
}

function Lasting({ text = "Not sold", pace }: Partial<NonNullable<ReturnType<typeof lastsUntil>>>) {
  return (
    <span title={pace && `Sold ${pace}`}>
      {text} <span class="muted">{pace}</span>
    </span>
  );
}

/** When the entry was changed last, and who did it, if that is known. */
function LastChange({ row, entries }: { readonly row: number; readonly entries: StockTable }) {
  const change = entries.lastChanges.get(row);
  if (!change) return <span class="muted">{changeNumber(entries.versions[row]!)}</span>;
  return (
    <>
      <Time at={change.at} isShort />
      <bdi class="muted ellipsis" title={change.reason ?? whoOf(change)}>
        {whoOf(change)}
      </bdi>
    </>
  );
}
