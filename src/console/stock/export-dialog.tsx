import { exactId, neutralised } from "../../domain/values/spreadsheet-text.ts";
import { pause } from "../client/retries.ts";
import { ChoiceList, SelectField } from "../parts/choices.tsx";
import { FormDialog } from "../parts/dialog-form.tsx";
import { countOf } from "../texts/formats.ts";
import { table, visible } from "./state.ts";
import type { StockTable } from "./table.ts";

/** In the order of the file, with the names that an import expects. */
const columns = ["petId", "name", "category", "quantity", "status"] as const;
/** So many rows are written at once, in a few milliseconds. */
const sliceRows = 5_000;

/** Downloads a CSV file with the rows that the list shows. */
export function ExportDialog({ close }: { readonly close: () => void }) {
  const rows = visible.value;
  async function submit(form: FormData): Promise<void> {
    const mark = form.has("mark") ? "\ufeff" : "";
    const parts = await writeRows(table.value, rows, String(form.get("delimiter")));
    download(new Blob([mark, ...parts], { type: "text/csv" }));
    close();
  }
  return (
    <FormDialog
      title="Export the list"
      action="Download"
      busyAction="Writing…"
      close={close}
      submit={submit}
    >
      <p>
        A CSV file with {countOf(rows.length, "entry", "entries")}: what the list shows, in its
        order. It can be imported again.
      </p>
      <SelectField
        label="Between the columns"
        name="delimiter"
        choices={[
          [",", "Comma"],
          [";", "Semicolon"],
          ["\t", "Tab"],
        ]}
      />
      <ChoiceList
        legend="For Excel"
        type="checkbox"
        name="mark"
        choices={[["yes", "Begin with a mark that says UTF-8 (BOM), so that accents are read"]]}
        isChosen={() => true}
      />
    </FormDialog>
  );
}

/** The text of the file, in pieces. */
async function writeRows(entries: StockTable, rows: Uint32Array, delimiter: string) {
  const pieces = [`${columns.join(delimiter)}\n`];
  for (let start = 0; start < rows.length; start += sliceRows) {
    const slice = [...rows.subarray(start, start + sliceRows)];
    const existing = slice.filter((row) => !entries.isRemoved[row]);
    pieces.push(existing.map((row) => `${writeRow(entries, row, delimiter)}\n`).join(""));
    await pause(0);
  }
  return pieces;
}

function writeRow(entries: StockTable, row: number, delimiter: string): string {
  const entry = entries.entryAt(row);
  const cells = columns.map((column) => {
    const text = String(entry[column] ?? "");
    return quoted(column === "petId" ? exactId(text) : neutralised(text));
  });
  return cells.join(delimiter);
}

/** Quotes a cell if any of the delimiters would need it. */
function quoted(cell: string): string {
  return /[",;\t\r\n]|^\s|\s$/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell;
}

function download(file: Blob): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(file);
  link.download = "stock.csv";
  link.click();
  // The browser has read it by then.
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}
