import { useSignal } from "@preact/signals";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { headerHeight, rowHeight } from "../parts/layout.ts";
import { useRowWindow } from "../parts/virtual-rows.ts";
import { ConflictPanel } from "./conflict-panel.tsx";
import { isCounting } from "./counting.ts";
import { editing, editPlace } from "./editing.ts";
import { focusRequests, giveFocus } from "./focus.ts";
import { GridHeader } from "./grid-header.tsx";
import { GridRow } from "./grid-row.tsx";
import { handleKey } from "./keyboard.ts";
import { active, columns, selected } from "./selection.ts";
import { indexOfPet, isOrderStale, table, updateOrder, visible } from "./state.ts";

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
