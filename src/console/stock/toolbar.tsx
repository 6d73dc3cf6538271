import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { petStatusValues } from "../client/types.ts";
import { Button, LinkButton } from "../parts/button.tsx";
import { ButtonGroup, Select } from "../parts/choices.tsx";
import { SearchField } from "../parts/search-field.tsx";
import { capitalized, countOf, formatCount } from "../texts/formats.ts";
import { stockQuery } from "./address.ts";
import { isCounting } from "./counting.ts";
import { ExportDialog } from "./export-dialog.tsx";
import { printStock } from "./print.ts";
import {
  categories,
  categoriesMax,
  categoryFilter,
  isOrderStale,
  openPetDialog,
  query,
  revision,
  statusCounts,
  statusFilter,
  table,
  updateOrder,
  visible,
} from "./state.ts";

export function Actions() {
  if (isCounting.value) {
    return <LinkButton to={`/stock${stockQuery.value}`}>Stop counting</LinkButton>;
  }
  return (
    <div class="row">
      <LinkButton icon="count" to={`/stock/count${stockQuery.value}`}>
        Count stock
      </LinkButton>
      <Button kind="primary" icon="plus" onClick={() => openPetDialog(undefined)}>
        Add pet
      </Button>
    </div>
  );
}

/** The search, the filters, how many rows are shown, and what to do with them. */
export function Toolbar() {
  void revision.value;
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => {
    const focusSearch = (event: KeyboardEvent) => {
      const target = event.target as HTMLElement;
      if (event.key !== "/" || target.matches("input, textarea, select")) return;
      event.preventDefault();
      field.current?.select();
    };
    document.addEventListener("keydown", focusSearch);
    return () => document.removeEventListener("keydown", focusSearch);
  }, []);
  const shown = visible.value.length;
  const total = table.value.size;
  return (
    <div class="row toolbar">
      <SearchField
        field={field}
        label="Search by id, name or category"
        placeholder="Id, name or category"
        value={query.value}
        search={(text) => (query.value = text)}
      />
      <StatusFilter />
      <CategoryFilter />
      <span class="spacer" />
      {isOrderStale.value && (
        <Button kind="quiet" isSmall onClick={updateOrder}>
          Sort again
        </Button>
      )}
      <span class="muted small" data-shown={shown}>
        {shown === total
          ? countOf(total, "entry", "entries")
          : `${formatCount(shown)} of ${formatCount(total)} entries`}
      </span>
      {shown > 0 && <Outputs />}
    </div>
  );
}

/** Prints or exports what is shown. */
function Outputs() {
  const isExporting = useSignal(false);
  return (
    <>
      <Button kind="quiet" icon="print" label="Print" onClick={printStock} />
      <Button
        kind="quiet"
        icon="import"
        label="Export"
        onClick={() => (isExporting.value = true)}
      />
      {isExporting.value && <ExportDialog close={() => (isExporting.value = false)} />}
    </>
  );
}

function StatusFilter() {
  const chosen = statusFilter.value;
  return (
    <ButtonGroup
      label="Status"
      class="status-filter"
      choices={petStatusValues.map((status, index) => [
        status,
        <>
          {capitalized(status)} <span class="muted">{formatCount(statusCounts.value[index]!)}</span>
        </>,
      ])}
      isChosen={(status) => chosen.has(status)}
      choose={(status) => {
        const next = new Set(chosen);
        if (!next.delete(status)) next.add(status);
        statusFilter.value = next;
      }}
    />
  );
}

/** The value of an option is "=" and the category, because an empty one means: without a category. */
function CategoryFilter() {
  const listed = categories.value;
  const chosen = categoryFilter.value;
  if (listed.length === 0 && chosen === undefined) return null;
  const others = chosen && !listed.includes(chosen) ? [chosen] : [];
  const note = listed.length < categoriesMax ? "" : ` (${categoriesMax} listed)`;
  return (
    <Select
      label="Category"
      class="category-filter"
      value={chosen === undefined ? "" : `=${chosen}`}
      choices={[
        ["", `All categories${note}`],
        ...[...listed, ...others].map((text) => [`=${text}`, text] as const),
        ["=", "No category"],
      ]}
      choose={(value) => (categoryFilter.value = value === "" ? undefined : value.slice(1))}
    />
  );
}
