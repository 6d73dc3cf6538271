import { type CellKind, csvLine } from "../../domain/values/spreadsheet-text.ts";
import { pause } from "../client/retries.ts";
import { choicesOf, SelectField } from "../parts/choices.tsx";
import { FormDialog } from "../parts/dialog-form.tsx";
import { countOf } from "../texts/formats.ts";
import { table, visible } from "./state.ts";
import type { Entry } from "./table.ts";

/** In the order of the file, with the names that an import expects. */
const columns = {
  petId: "id",
  name: "text",
  category: "text",
  barcode: "code",
  quantity: "integer",
  status: "text",
  lowStockAt: "integer",
} as const satisfies Partial<Record<keyof Entry, CellKind>>;
const delimiters = choicesOf({ ",": "Comma", ";": "Semicolon", "\t": "Tab" });
/** What the file begins with. Excel reads UTF-8 only after its mark. */
const beginnings = choicesOf({ "\ufeff": "UTF-8 for Excel (BOM)", "": "UTF-8" });
/** So many rows are written at once, in a few milliseconds. */
const sliceRows = 5_000;

/** Downloads a CSV file with the rows that the list shows. */
export function ExportDialog({ close }: { readonly close: () => void }) {
  const rows = visible.value;
  async function submit(form: FormData): Promise<void> {
    const entries = table.value;
    const delimiter = form.get("delimiter") as string;
    const pieces = [`${form.get("beginning")}${Object.keys(columns).join(delimiter)}\n`];
    for (let start = 0; start < rows.length; start += sliceRows) {
      const slice = [...rows.subarray(start, start + sliceRows)];
      pieces.push(
        ...slice.map((row) => `${csvLine(columns, { ...entries.entryAt(row) }, delimiter)}\n`),
      );
      await pause(0);
    }
    download(new Blob(pieces, { type: "text/csv" }));
    close();
  }
  const size = countOf(rows.length, "entry", "entries");
  return (
    <FormDialog title="Export the list" action="Download" close={close} submit={submit}>
      <p>A CSV file with {size}: what the list shows, in its order. It can be imported again.</p>
      <SelectField label="Between the columns" name="delimiter" choices={delimiters} />
      <SelectField label="Encoding" name="beginning" choices={beginnings} />
    </FormDialog>
  );
}

function download(file: Blob): void {
  const href = URL.createObjectURL(file);
  Object.assign(document.createElement("a"), { href, download: "stock.csv" }).click();
  // The browser has read it by then.
  setTimeout(() => URL.revokeObjectURL(href), 60_000);
}
