import { pause } from "../client/retries.ts";
import { showError } from "../page/messages.ts";
import { countOf, formatCount } from "../texts/formats.ts";
import { isCounting } from "./counting.ts";
import { categoryFilter, isLowOnly, query, statusFilter, table, visible } from "./state.ts";

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
  list.className = "table";
  const headings = ["Id", "Name", "Category", "Quantity", isCount ? "Counted" : "Status"];
  list.createTHead().append(line("th", headings));
  const body = list.createTBody();
  for (let start = 0; start < rows.length; start += sliceRows) {
    for (const row of rows.subarray(start, start + sliceRows)) {
      const { petId, name, category, quantity, status } = entries.entryAt(row);
      body.append(line("td", [petId, name, category, formatCount(quantity), !isCount && status]));
    }
    await pause(0);
  }
  const category = categoryFilter.value === "" ? "No category" : categoryFilter.value;
  const now = new Date().toLocaleString(undefined, { dateStyle: "long", timeStyle: "short" });
  const size = countOf(rows.length, "entry", "entries");
  const filters = [query.value.trim(), ...statusFilter.value, category, isLowOnly.value && "Low"];
  const sheet = element("section", "");
  sheet.className = "print-sheet";
  const title = element("h1", isCount ? "Count list" : "Stock");
  sheet.append(title, element("p", [now, size, ...filters].filter(Boolean).join(" · ")), list);
  document.querySelector(".print-sheet")?.remove();
  document.body.append(sheet);
  window.addEventListener("afterprint", () => sheet.remove(), { once: true });
  window.print();
}

function line(kind: "th" | "td", texts: readonly (string | null | false)[]): HTMLElement {
  const row = element("tr", "");
  row.append(...texts.map((text) => element(kind, text || "")));
  row.children[3]!.className = "number";
  return row;
}

function element(kind: string, text: string): HTMLElement {
  return Object.assign(document.createElement(kind), { textContent: text });
}
