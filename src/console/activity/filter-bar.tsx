import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { request } from "../client/api.ts";
import { may } from "../client/session.ts";
import type { Key } from "../client/types.ts";
import { navigate } from "../page/router.ts";
import { LinkButton } from "../parts/button.tsx";
import { SelectField } from "../parts/choices.tsx";
import { FieldError } from "../parts/fields.tsx";
import { isNarrow } from "../parts/layout.ts";
import { useLoaded } from "../parts/loaded.tsx";
import { causeChoices } from "../parts/origins.ts";
import { localInputValue, readLocalInput } from "../texts/times.ts";
import { type ChangeFilter, filterQuery, isFiltered, isPetId } from "./change-filter.ts";

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
      <search class="filter-bar" aria-label="Filter the changes">
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
        <TimeField name="since" label="From" filter={filter} apply={apply} />
        <TimeField name="until" label="To" filter={filter} apply={apply} />
        {isFiltered(filter) && (
          <LinkButton kind="quiet" to="/activity">
            Clear
          </LinkButton>
        )}
      </search>
    </details>
  );
}

interface FieldProps {
  readonly filter: ChangeFilter;
  readonly apply: (changed: Partial<ChangeFilter>) => void;
}

function PetField({ filter, apply }: FieldProps) {
  const typed = useSignal(filter.petId);
  const error = useSignal("");
  useEffect(() => {
    typed.value = filter.petId;
    error.value = "";
  }, [filter.petId, typed, error]);
  const submit = () => {
    const petId = typed.value.trim();
    if (petId === "" || isPetId(petId)) apply({ petId });
    else error.value = "Enter a whole number.";
  };
  return (
    <div class="field">
      <label for="filter-pet">Pet id</label>
      <input
        id="filter-pet"
        class="input"
        inputMode="numeric"
        autocomplete="off"
        placeholder="Any"
        value={typed.value}
        aria-describedby="filter-error"
        onInput={(event) => (typed.value = event.currentTarget.value)}
        onChange={submit}
      />
      <FieldError id="filter-error">{error.value}</FieldError>
    </div>
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
