import { computed, signal } from "@preact/signals";
import { sortColumns } from "./order.ts";
import { current, table, visible } from "./state.ts";

/** The columns that the arrow keys reach, in order. */
export const columns = ["select", ...sortColumns] as const;
export type Column = (typeof columns)[number];

export interface Cell {
  /** The place of its row in `visible`. */
  readonly index: number;
  readonly column: Column;
}

/** The cell that has, or had, the focus. */
export const active = signal<Cell>({ index: 0, column: "quantity" });

const chosen = signal<ReadonlySet<number>>(new Set());
/** Where a range starts. */
let anchor = 0;

/** The selected rows that still exist. */
export const selected = computed<ReadonlySet<number>>(() => {
  const { isRemoved } = current.value.entries;
  return new Set([...chosen.value].filter((row) => !isRemoved[row]));
});

export function toggle(index: number): void {
  const row = visible.value[index];
  if (row === undefined) return;
  const next = new Set(chosen.value);
  if (!next.delete(row)) next.add(row);
  anchor = index;
  chosen.value = next;
}

/** Selects everything between the last toggled row and this one. */
export function selectRange(index: number): void {
  const [first, last] = anchor < index ? [anchor, index] : [index, anchor];
  const next = new Set(chosen.value);
  for (const row of visible.value.slice(first, last + 1)) next.add(row);
  chosen.value = next;
}

/** Starts a range here, if none was started. */
export function startRange(index: number): void {
  if (chosen.value.size === 0) anchor = index;
}

export function toggleAll(): void {
  const rows = visible.value;
  const areAll = rows.length > 0 && rows.every((row) => chosen.value.has(row));
  chosen.value = areAll ? new Set() : new Set(rows);
}

/** Selects one row, and no other. */
export function selectOnly(row: number): void {
  chosen.value = new Set([row]);
}

export function clearSelection(): void {
  chosen.value = new Set();
}

// In a table that was loaded again, the same row can be another pet.
table.subscribe(clearSelection);
