import { useSignal } from "@preact/signals";
import { useRef } from "preact/hooks";
import { type CellKind, csvLine } from "../../domain/values/spreadsheet-text.ts";
import { pause } from "../client/retries.ts";
import { may } from "../client/session.ts";
import { petStatusValues } from "../client/types.ts";
import { Button, LinkButton } from "../parts/button.tsx";
import { ButtonGroup, choicesOf, numbered, Select, SelectField } from "../parts/choices.tsx";
import { FormDialog } from "../parts/dialog-form.tsx";
import { SearchField } from "../parts/fields.tsx";
import { usePageKey } from "../parts/page-key.ts";
import { capitalized, countOf, formatCount } from "../texts/formats.ts";
import { stockQuery } from "./address.ts";
import { isCounting } from "./counting.ts";
import { sales } from "./lasting.ts";
import { printStock } from "./print.ts";
import * as state from "./state.ts";
import { table, visible } from "./state.ts";
import type { Entry } from "./table.ts";

/** What to do with the list. */
export function Actions() {
  if (isCounting.value) {
    return <LinkButton to={`/stock${stockQuery.value}`}>Stop counting</LinkButton>;
  }
  if (!may("clerk")) return null;
  return (
    <div class="row">
      <LinkButton icon="stock" to={`/stock/delivery${stockQuery.value}`}>
        Receive delivery
      </LinkButton>
      <LinkButton icon="count" to={`/stock/count${stockQuery.value}`}>
        Count stock
      </LinkButton>
      <Button kind="primary" icon="plus" onClick={() => state.openPetDialog(undefined)}>
        Add pet
      </Button>
    </div>
  );
}

/** How many entries are shown, and what to do with them. */
export function Shown() {
  const shown = state.visible.value.length;
  const total = state.current.value.entries.size;
  if (total === 0) return null;
  return (
    <>
      <span class="muted small" data-shown={shown}>
        {shown === total
          ? countOf(total, "entry", "entries")
          : `${formatCount(shown)} of ${formatCount(total)} entries`}
      </span>
      {shown > 0 && <Outputs />}
    </>
  );
}

/** The search and the filters. */
export function Toolbar() {
  const field = useRef<HTMLInputElement>(null);
  usePageKey("/", () => field.current?.select());
  return (
    <div class="row toolbar">
      <SearchField
        field={field}
        label="Search by id, name, barcode or category"
        placeholder="Id, name, barcode or category"
        text={state.query}
      />
      <StatusFilter />
      <CategoryFilter />
      <StockFilter />
      {state.isOrderStale.value && (
        <Button kind="quiet" isSmall onClick={state.updateOrder}>
          Sort again
        </Button>
      )}
    </div>
  );
}

/** The filter for low stock, and the column that says how long the stock lasts. */
function StockFilter() {
  const isLasting = sales.value !== undefined;
  return (
    <ButtonGroup
      label="Low stock"
      choices={choicesOf({ low: numbered("Low", state.lowCount.value), lasting: "Lasts until" })}
      isChosen={(choice) => (choice === "low" ? state.isLowOnly.value : isLasting)}
      choose={(choice) => {
        if (choice === "low") state.isLowOnly.value = !state.isLowOnly.value;
        else state.showLasting(!isLasting);
      }}
    />
  );
}

/** Prints or exports what is shown. */
function Outputs() {
  const isOpen = useSignal(false);
  return (
    <>
      <Button kind="quiet" icon="print" label="Print" onClick={printStock} />
      <Button kind="quiet" icon="import" label="Export" onClick={() => (isOpen.value = true)} />
      {isOpen.value && <ExportDialog close={() => (isOpen.value = false)} />}
    </>
  );
}

function StatusFilter() {
  const chosen = state.statusFilter.value;
  return (
    <ButtonGroup
      label="Status"
      class="status-filter"
      choices={petStatusValues.map((status, index) => [
        status,
        numbered(capitalized(status), state.statusCounts.value[index]!),
      ])}
      isChosen={(status) => chosen.has(status)}
      choose={(status) => {
        const next = new Set(chosen);
        if (!next.delete(status)) next.add(status);
        state.statusFilter.value = next;
      }}
    />
  );
}

/** The value of an option is "=" and the category, because an empty one means: without a category. */
function CategoryFilter() {
  const listed = state.categories.value;
  const chosen = state.categoryFilter.value;
  if (listed.length === 0 && chosen === undefined) return null;
  const others = chosen && !listed.includes(chosen) ? [chosen] : [];
  return (
    <Select
      label="Category"
      class="category-filter"
      value={chosen === undefined ? "" : `=${chosen}`}
      choices={[
        ["", "All categories"],
        ...[...listed, ...others].map((text) => [`=${text}`, text] as const),
        ["=", "No category"],
      ]}
      choose={(value) => (state.categoryFilter.value = value === "" ? undefined : value.slice(1))}
    />
  );
}

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
function ExportDialog({ close }: { readonly close: () => void }) {
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
