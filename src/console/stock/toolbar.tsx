import { useEffect, useRef } from "preact/hooks";
import { petStatusValues } from "../client/types.ts";
import { hrefOf } from "../page/router.ts";
import { Icon } from "../parts/icon.tsx";
import { capitalized } from "../texts/capitalized.ts";
import { formatCount } from "../texts/numbers.ts";
import { isCounting } from "./counting.ts";
import { openPetDialog } from "./pet-dialog-state.ts";
import {
  isOrderStale,
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
    return (
      <a class="button" href={hrefOf("/stock")}>
        Stop counting
      </a>
    );
  }
  return (
    <div class="row">
      <a class="button" href={hrefOf("/stock/count")}>
        <Icon name="count" />
        Count stock
      </a>
      <button type="button" class="button primary" onClick={() => openPetDialog(undefined)}>
        <Icon name="plus" />
        Add pet
      </button>
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
    <div class="toolbar">
      <div class="search-field">
        <Icon name="search" />
        <input
          ref={field}
          class="input"
          type="search"
          placeholder="Search by id or name"
          aria-label="Search by id or name"
          autocomplete="off"
          spellcheck={false}
          value={query.value}
          onInput={(event) => {
            query.value = event.currentTarget.value;
          }}
        />
      </div>
      <StatusFilter />
      <span class="spacer" />
      {isOrderStale.value && (
        <button type="button" class="button small quiet" onClick={updateOrder}>
          Sort again
        </button>
      )}
      <span class="muted small" data-shown={shown}>
        {shown === total
          ? `${formatCount(total)} ${total === 1 ? "entry" : "entries"}`
          : `${formatCount(shown)} of ${formatCount(total)} entries`}
      </span>
    </div>
  );
}

function StatusFilter() {
  const chosen = statusFilter.value;
  return (
    <fieldset class="button-group status-filter" aria-label="Status">
      {petStatusValues.map((status, index) => (
        <button
          type="button"
          key={status}
          class="button small"
          aria-pressed={chosen.has(status)}
          onClick={() => {
            const next = new Set(chosen);
            if (!next.delete(status)) next.add(status);
            statusFilter.value = next;
          }}
        >
          {capitalized(status)} <span class="muted">{formatCount(statusCounts.value[index]!)}</span>
        </button>
      ))}
    </fieldset>
  );
}
