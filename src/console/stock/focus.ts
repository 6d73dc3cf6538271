import { signal } from "@preact/signals";
import { headerHeight, rowHeight } from "../parts/layout.ts";
import { active, type Column } from "./selection.ts";
import { indexOfPet } from "./state.ts";

export function cellId(index: number, column: Column): string {
  return `cell-${index}-${column}`;
}

/** Counts the times at which a cell is to get the focus. */
export const focusRequests = signal(0);
let wanted: string | undefined;

/** Moves the focus to a cell when the rows are drawn next. */
export function focusCell(index: number, column: Column): void {
  active.value = { index, column };
  wanted = cellId(index, column);
  focusRequests.value += 1;
}

/** Called when the rows are drawn, before the next key is pressed. A cell never gets the focus later. */
export function giveFocus(): void {
  const cell = wanted === undefined ? null : document.getElementById(wanted);
  const scroller = cell?.closest(".grid-scroller");
  if (scroller) scrollTo(active.peek().index, scroller);
  cell?.focus({ preventScroll: true });
  wanted = undefined;
}

/** Scrolls as little as needed. The header covers the top of the scrolled part. */
function scrollTo(index: number, scroller: Element): void {
  const top = index * rowHeight.value;
  const height = scroller.clientHeight - headerHeight - rowHeight.value;
  if (top < scroller.scrollTop) scroller.scrollTop = top;
  else if (top > scroller.scrollTop + height) scroller.scrollTop = top - height;
}

/** Gives the focus back when an edit has ended, unless the person has gone on to another field. */
export function leaveEdit(petId: string, column: Column): void {
  if (!isInEdit()) return;
  const index = indexOfPet(petId);
  if (index >= 0) focusCell(index, column);
  else document.querySelector<HTMLElement>(".search-field input")?.focus();
}

/** Whether the focus is in the edit. A field that is disabled or gone leaves it to the whole page. */
export function isInEdit(): boolean {
  const { activeElement } = document;
  const parts = "body, .edit-cell *, .conflict *, .unfinished-edit *";
  return activeElement === null || activeElement.matches(parts);
}
