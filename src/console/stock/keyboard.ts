import { navigate } from "../page/router.ts";
import { headerHeight, rowHeight } from "../parts/layout.ts";
import { cancelEditing, saveEditing, tryEditing } from "./editing.ts";
import { focusCell, isInEdit } from "./focus.ts";
import {
  active,
  type Cell,
  type Column,
  clearSelection,
  columns,
  selectRange,
  startRange,
  toggle,
  toggleAll,
} from "./selection.ts";
import { openPetDialog, table, visible } from "./state.ts";

/** The keys of the grid (WAI-ARIA, the grid pattern). */
export function handleKey(event: KeyboardEvent, scroller: HTMLElement): void {
  // Enter can choose a word of an input method, and must not save then.
  if (event.isComposing) return;
  const target = event.target as HTMLElement;
  if (target.matches(".edit-cell *")) {
    handleEditKey(event, target);
    return;
  }
  if (!target.matches("[role=gridcell]")) return;
  const move = moveOf(event, scroller);
  if (move) {
    event.preventDefault();
    goTo(move.index, move.column, event.shiftKey && move.column === active.value.column);
    return;
  }
  if (act(event)) event.preventDefault();
}

function handleEditKey(event: KeyboardEvent, target: HTMLElement): void {
  // Enter and Escape choose and close in the open list of a select. They save and cancel nothing.
  if (canTellOpen && target.matches("select:open")) return;
  if (event.key === "Escape") {
    event.preventDefault();
    cancelEditing();
  } else if (event.key === "Enter" && !target.matches("button")) {
    event.preventDefault();
    void saveEditing().then(() => {
      if (isInEdit()) document.querySelector<HTMLElement>(".conflict button")?.focus();
    });
  }
}

const canTellOpen = CSS.supports("selector(:open)");

/** Where a key leads, or undefined if it does not move. */
function moveOf(event: KeyboardEvent, scroller: HTMLElement): Cell | undefined {
  const { index, column } = active.value;
  const isFar = event.ctrlKey || event.metaKey;
  const last = visible.value.length - 1;
  const shown = Math.floor((scroller.clientHeight - headerHeight) / rowHeight.value);
  const page = Math.max(1, shown - 1);
  const at = columns.indexOf(column);
  const beside = (step: number): Cell => ({ index, column: columns[at + step] ?? column });
  const moves: Readonly<Record<string, Cell>> = {
    ArrowUp: { index: isFar ? 0 : index - 1, column },
    ArrowDown: { index: isFar ? last : index + 1, column },
    ArrowLeft: beside(-1),
    ArrowRight: beside(1),
    PageUp: { index: index - page, column },
    PageDown: { index: index + page, column },
    Home: isFar ? { index: 0, column } : { index, column: columns[0] },
    End: isFar ? { index: last, column } : { index, column: columns.at(-1)! },
  };
  return moves[event.key];
}

function goTo(wanted: number, column: Column, isRange: boolean): void {
  const from = active.value.index;
  const index = Math.max(0, Math.min(visible.value.length - 1, wanted));
  if (isRange && index !== from) {
    startRange(from);
    selectRange(index);
  }
  focusCell(index, column);
}

/** Does what a key asks for in the active cell. Returns false if the key means nothing. */
function act(event: KeyboardEvent): boolean {
  const { index, column } = active.value;
  const row = visible.value[index];
  if (row === undefined || event.altKey) return false;
  const { key } = event;
  if (event.ctrlKey || event.metaKey) {
    if (key.toLowerCase() !== "a") return false;
    toggleAll();
    return true;
  }
  if (key === " ") {
    if (event.shiftKey) selectRange(index);
    else toggle(index);
  } else if (key === "Enter" || key === "F2") {
    if (column === "select") toggle(index);
    else if (column === "change") navigate(`/history/${table.value.ids[row]}`);
    else tryEditing(row, column === "status" ? "status" : "quantity");
  } else if (key === "Escape") clearSelection();
  else if (/^[\d+−-]$/.test(key)) tryEditing(row, "quantity", key);
  else if (key.toLowerCase() === "e") openPetDialog(table.value.ids[row]!);
  else return false;
  return true;
}
