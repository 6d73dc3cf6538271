import { pause } from "../client/retries.ts";
import { showError } from "../page/messages.ts";
import { countOf, formatCount } from "../texts/formats.ts";
import { isCounting } from "./counting.ts";
import { categoryFilter, query, statusFilter, table, visible } from "./state.ts";

/** About 500 sheets of paper. */
const printedRowsMax = 20_000;
/** So many rows are made at once, in a few milliseconds. */
const sliceRows = 500;

/**
 * Prints all rows that the list shows. The list has elements only for those on the screen, so this makes
 * a plain table. While counting, it has an empty column to fill in by hand.
 */
export async function printStock(): Promise<void> {
  const [rows, entries, isCount] = [visible.value, table.value, isCounting.value];
  if (rows.length > printedRowsMax) {
    const rule = `too many to print: at most ${formatCount(printedRowsMax)}`;
    showError(`${formatCount(rows.length)} entries are ${rule}. Filter or export them.`);
    return;
  }
  const list = document.createElement("table");
  const headings = ["Id", "Name", "Category", "Quantity", isCount ? "Counted" : "Status"];
  list
    .createTHead()
    .insertRow()
    .append(...elements("th", headings));
  const body = list.createTBody();
  for (let start = 0; start < rows.length; start += sliceRows) {
    for (const row of rows.subarray(start, start + sliceRows)) {
      const { petId, name, category, quantity, status } = entries.entryAt(row);
      const texts = [petId, name, category ?? "", formatCount(quantity), isCount ? "" : status];
      body.insertRow().append(...elements("td", texts));
    }
    await pause(0);
  }
  const category = categoryFilter.value === "" ? "No category" : categoryFilter.value;
  const now = new Date().toLocaleString(undefined, { dateStyle: "long", timeStyle: "short" });
  const size = countOf(rows.length, "entry", "entries");
  const facts = [now, size, query.value.trim(), ...statusFilter.value, category];
  const sheet = document.createElement("section");
  sheet.className = "print-sheet";
  sheet.append(...elements("h1", [isCount ? "Count list" : "Stock"]));
  sheet.append(...elements("p", [facts.filter(Boolean).join(" · ")]), list);
  document.querySelector(".print-sheet")?.remove();
  document.body.append(sheet);
  window.addEventListener("afterprint", () => sheet.remove(), { once: true });
  window.print();
}

function elements(kind: "h1" | "p" | "th" | "td", texts: readonly string[]): HTMLElement[] {
  return texts.map((text) => {
    const element = document.createElement(kind);
    element.textContent = text;
    return element;
  });
}
