import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { request } from "../client/api.ts";
import { findPetName } from "../client/pet-names.ts";
import { may } from "../client/session.ts";
import type { Key } from "../client/types.ts";
import { navigate } from "../page/router.ts";
import { Button, LinkButton } from "../parts/button.tsx";
import { SelectField } from "../parts/choices.tsx";
import { FieldError } from "../parts/fields.tsx";
import { isNarrow } from "../parts/layout.ts";
import { useLoaded } from "../parts/loaded.tsx";
import { causeChoices } from "../parts/origins.ts";
import { barcodeField } from "../parts/scanner.ts";
import { findRows } from "../stock/find-rows.ts";
import { loadState, loadStock, table } from "../stock/state.ts";
import { commonPeriods, localInputValue, readLocalInput } from "../texts/times.ts";
import { type ChangeFilter, filterQuery, isFiltered, isPetId } from "./change-filter.ts";
import { UndoTogether } from "./undo-dialogs.tsx";

/**
 * The filters of the list. They are part of the address, so that a link shows the same. On a phone
 * they are folded until there are some.
 */
export function FilterBar({ filter }: { readonly filter: ChangeFilter }) {
  const apply = (changed: Partial<ChangeFilter>) => {
    navigate(`/activity${filterQuery({ ...filter, ...changed })}`, { replace: true });
  };
  return (
    <details class="filter-fold" open={!isNarrow.value || isFiltered(filter)}>
      <summary>Filter</summary>
      <search class="row filter-bar" aria-label="Filter the changes">
        <PetField filter={filter} apply={apply} />
        <KeyField filter={filter} apply={apply} />
        <SelectField
          id="filter-cause"
          label="Made with"
          choices={[
            ["", "Anything"],
            ...causeChoices.map(([cause, { name }]) => [cause, name] as const),
          ]}
          value={filter.cause}
          choose={(cause) => apply({ cause })}
        />
        <PeriodField filter={filter} apply={apply} />
        <TimeField name="since" label="From" filter={filter} apply={apply} />
        <TimeField name="until" label="To" filter={filter} apply={apply} />
        {isFiltered(filter) && (
          <LinkButton kind="quiet" to="/activity">
            Clear
          </LinkButton>
        )}
        <UndoFilter filter={filter} />
        {filter.requestId !== "" && <p class="small muted">Only request {filter.requestId}</p>}
        {filter.session !== "" && <p class="small muted">Only session {filter.session}</p>}
      </search>
    </details>
  );
}

/** For what belongs together: a request, or what a broken integration did. */
function UndoFilter({ filter }: { readonly filter: ChangeFilter }) {
  const isOpen = useSignal(false);
  if (!may("clerk") || !isFiltered(filter)) return null;
  return (
    <>
      <Button icon="undo" onClick={() => (isOpen.value = true)}>
        Undo what this filter shows
      </Button>
      {isOpen.value && (
        <UndoTogether query={filterQuery(filter)} close={() => (isOpen.value = false)} />
      )}
    </>
  );
}

interface FieldProps {
  readonly filter: ChangeFilter;
  readonly apply: (changed: Partial<ChangeFilter>) => void;
}

/** Takes an id, a barcode, or a part of a name that only one pet has. Offers the pets that match. */
function PetField({ filter, apply }: FieldProps) {
  const typed = useSignal(filter.petId);
  const error = useSignal("");
  useEffect(() => {
    typed.value = filter.petId;
    error.value = "";
  }, [filter.petId, typed, error]);
  const found = typed.value.trim() === "" ? [] : findRows(typed.value);
  const submit = () => {
    const text = typed.value.trim();
    const scanned = table.value.findScanned(text);
    const rows = scanned === undefined ? findRows(text) : [scanned];
    // The changes of a pet that was removed are found by its id.
    const isId = text === "" || (scanned === undefined && isPetId(text));
    const [petId, ...others] = isId ? [text] : rows.map((row) => table.value.ids[row]!);
    if (petId !== undefined && others.length === 0) apply({ petId });
    else if (loadState.value.kind !== "ready") error.value = "Names are being loaded. Try again.";
    else error.value = petId === undefined ? "No pet matches." : "Choose one from the list.";
  };
  return (
    <div class="field">
      <label for="filter-pet">Pet</label>
      <input
        {...barcodeField}
        id="filter-pet"
        class="input"
        list="filter-pets"
        autocomplete="off"
        placeholder="Name or id"
        value={typed.value}
        aria-describedby="filter-error"
        onFocus={() => void loadStock()}
        onInput={(event) => (typed.value = event.currentTarget.value)}
        onChange={submit}
      />
      <datalist id="filter-pets">
        {found.map((row) => (
          <option key={row} value={table.value.ids[row]}>
            {table.value.names[row]}
          </option>
        ))}
      </datalist>
      <FieldError id="filter-error">{error.value}</FieldError>
      {filter.petId !== "" && <span class="small muted">{findPetName(filter.petId)}</span>}
    </div>
  );
}

/** The periods that people ask for most. Their times are in the address, so a link shows the same. */
function PeriodField({ filter, apply }: FieldProps) {
  const { since, until } = filter;
  const periods = commonPeriods();
  return (
    <SelectField
      id="filter-period"
      label="When"
      choices={[["", since + until === "" ? "Any time" : "From and to"], ...periods]}
      value={periods.find(([period]) => period === `${since} ${until}`)?.[0] ?? ""}
      choose={(period) => {
        const [since = "", until = ""] = period.split(" ");
        apply({ since, until });
      }}
    />
  );
}

/** Without the list of keys, only the chosen one is offered. */
function KeyField({ filter, apply }: FieldProps) {
  const source = useLoaded(async (signal) =>
    may("owner") ? request<readonly Key[]>("/keys", { signal }) : [],
  );
  const state = source.state.value;
  const keys = state.kind === "ready" ? state.value : [];
  const isKnown = filter.keyId === "" || keys.some(({ id }) => id === filter.keyId);
  return (
    <SelectField
      id="filter-key"
      label="Key"
      choices={[
        ["", "Any"],
        ...(isKnown ? [] : [[filter.keyId, filter.keyId] as const]),
        ...keys.map(({ id, name }) => [id, name] as const),
      ]}
      value={filter.keyId}
      choose={(keyId) => apply({ keyId })}
    />
  );
}

interface TimeFieldProps extends FieldProps {
  readonly name: "since" | "until";
  readonly label: string;
}

function TimeField({ name, label, filter, apply }: TimeFieldProps) {
  return (
    <div class="field">
      <label for={`filter-${name}`}>{label}</label>
      <input
        id={`filter-${name}`}
        type="datetime-local"
        class="input"
        value={localInputValue(filter[name])}
        onBlur={(event) => {
          // Not on each change: while somebody types a date, it has wrong years.
          const time = readLocalInput(event.currentTarget.value);
          if (time !== filter[name]) apply({ [name]: time });
        }}
        onKeyDown={(event) => {
          if (event.key === "Enter") event.currentTarget.blur();
        }}
      />
    </div>
  );
}
