import { ShownError } from "../client/api.ts";
import { pause } from "../client/retries.ts";
import { countOf, formatCount } from "../texts/formats.ts";
import { isCounting } from "./counting.ts";
import { categoryFilter, query, statusFilter, table, visible } from "./state.ts";

/** About 500 sheets of paper. More would keep the browser busy for minutes. */
const printedRowsMax = 20_000;
/** So many rows are made at once, in a few milliseconds. */
const sliceRows = 500;

/**
 * Prints all rows that the list shows. The list has elements only for those on the screen, so this makes
 * a plain table. While counting, it has an empty column to fill in by hand.
 */
export async function printStock(): Promise<void> {
  const rows = visible.value;
  const entries = table.value;
  if (rows.length > printedRowsMax) {
    throw new ShownError(
      `${formatCount(rows.length)} entries are too many to print: at most ${formatCount(printedRowsMax)}. Search or filter first, or export them.`,
    );
  }
  const isCount = isCounting.value;
  const list = document.createElement("table");
  const last = isCount ? "Counted" : "Status";
  addRow(list.createTHead(), "th", ["Id", "Name", "Category", "Quantity", last]);
  const body = list.createTBody();
  for (let start = 0; start < rows.length; start += sliceRows) {
    for (const row of rows.subarray(start, start + sliceRows)) {
      if (entries.isRemoved[row]) continue;
      const { petId, name, category, quantity, status } = entries.entryAt(row);
      const texts = [petId, name, category ?? "", formatCount(quantity), isCount ? "" : status];
      addRow(body, "td", texts);
    }
    await pause(0);
  }
  const title = document.createElement("h1");
  title.textContent = isCount ? "Count list" : "Stock";
  const sheet = document.createElement("section");
  sheet.className = "print-sheet";
  sheet.append(title, describeList(body.rows.length), list);
  document.querySelector(".print-sheet")?.remove();
  document.body.append(sheet);
  window.addEventListener("afterprint", () => sheet.remove(), { once: true });
  window.print();
}

function addRow(section: HTMLTableSectionElement, kind: "th" | "td", texts: readonly string[]) {
  const cells = texts.map((text) => {
    const cell = document.createElement(kind);
    cell.textContent = text;
    return cell;
  });
  section.insertRow().append(...cells);
}

/** When it was printed, and what it is a part of. */
function describeList(count: number): HTMLElement {
  const line = document.createElement("p");
  const category = categoryFilter.value === "" ? "no category" : categoryFilter.value;
  const parts = [
    new Date().toLocaleString(undefined, { dateStyle: "long", timeStyle: "short" }),
    countOf(count, "entry", "entries"),
    query.value.trim() !== "" && `search: ${query.value.trim()}`,
    [...statusFilter.value].join(" or "),
    category,
  ];
  line.textContent = parts.filter(Boolean).join(" · ");
  return line;
}
