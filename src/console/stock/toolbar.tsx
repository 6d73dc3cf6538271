import { useEffect, useRef } from "preact/hooks";
import { petStatusValues } from "../client/types.ts";
import { Button, LinkButton } from "../parts/button.tsx";
import { ButtonGroup } from "../parts/choices.tsx";
import { SearchField } from "../parts/search-field.tsx";
import { capitalized, countOf, formatCount } from "../texts/formats.ts";
import { isCounting } from "./counting.ts";
import {
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
    return <LinkButton to="/stock">Stop counting</LinkButton>;
  }
  return (
    <div class="row">
      <LinkButton icon="import" to="/stock/delivery">
        Receive delivery
      </LinkButton>
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
        label="Search by id or name"
        value={query.value}
        search={(text) => (query.value = text)}
      />
      <StatusFilter />
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
