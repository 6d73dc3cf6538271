import { useEffect, useRef } from "preact/hooks";
import { may } from "../client/session.ts";
import { petStatusValues } from "../client/types.ts";
import { Button, LinkButton } from "../parts/button.tsx";
import { ButtonGroup } from "../parts/choices.tsx";
import { SearchField } from "../parts/search-field.tsx";
import { capitalized, countOf, formatCount } from "../texts/formats.ts";
import { isCounting } from "./counting.ts";
import { sales } from "./lasting.ts";
import {
  isLowOnly,
  isOrderStale,
  lowCount,
  openPetDialog,
  query,
  revision,
  showLasting,
  statusCounts,
  statusFilter,
  table,
  updateOrder,
  visible,
} from "./state.ts";

export function Actions() {
  if (!may("clerk")) return null;
  if (isCounting.value) {
    return <LinkButton to="/stock">Stop counting</LinkButton>;
  }
  return (
    <div class="row">
      <LinkButton icon="count" to="/stock/count">
        Count stock
      </LinkButton>
      <Button kind="primary" icon="plus" onClick={() => openPetDialog(undefined)}>
        Add pet
      </Button>
    </div>
  );
}

/** The search, the statuses with their counts, and how many rows are shown. */
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
        label="Search by id, name or barcode"
        value={query.value}
        search={(text) => (query.value = text)}
      />
      <StatusFilter />
      <StockFilter />
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
    </div>
  );
}

/** The filter for low stock, and the column that says how long the stock lasts. */
function StockFilter() {
  const isLasting = sales.value !== undefined;
  return (
    <ButtonGroup
      label="Low stock"
      choices={[
        ["low", <Counted text="Low" count={lowCount.value} />],
        ["lasting", "Lasts until"],
      ]}
      isChosen={(choice) => (choice === "low" ? isLowOnly.value : isLasting)}
      choose={(choice) => {
        if (choice === "low") isLowOnly.value = !isLowOnly.value;
        else void showLasting(!isLasting);
      }}
    />
  );
}

function Counted({ text, count }: { readonly text: string; readonly count: number }) {
  return (
    <>
      {text} <span class="muted">{formatCount(count)}</span>
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
        <Counted text={capitalized(status)} count={statusCounts.value[index]!} />,
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
