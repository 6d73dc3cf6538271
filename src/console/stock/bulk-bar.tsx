import { useSignal } from "@preact/signals";
import { type PetStatus, petStatusValues } from "../client/types.ts";
import { reasonCharactersMax } from "../parts/reasons.ts";
import { capitalized } from "../texts/capitalized.ts";
import { countOf, formatCount } from "../texts/numbers.ts";
import { applyToSelected, bulk, continueBulk, dropRest } from "./bulk.ts";
import { parseDelta, parseQuantity, quantityRule } from "./quantities.ts";
import { clearSelection, selected } from "./selection.ts";

/**
 * Changes all selected rows. What is left after the connection was lost comes first, also when the
 * table was loaded again and no row is selected any more.
 */
export function BulkBar() {
  const { progress, rest } = bulk.value;
  if (rest.length > 0) return <Rest />;
  return selected.value.size > 0 || progress ? <BulkForm /> : null;
}

function Rest() {
  const { error, rest } = bulk.value;
  const count = rest.reduce((sum, { changes }) => sum + changes.length, 0);
  return (
    <section class="bulk-bar" aria-label="Changes that may not have been saved">
      <strong class="bulk-count">{countOf(count, "change")} may not have been saved</strong>
      <span class="bulk-reason small">Nothing is applied twice if you send again.</span>
      <div class="row">
        <button type="button" class="button primary" onClick={() => void continueBulk()}>
          Send again
        </button>
        <button type="button" class="button" onClick={dropRest}>
          Discard
        </button>
      </div>
      <p class="field-error" role="alert">
        {error}
      </p>
    </section>
  );
}

function BulkForm() {
  const kind = useSignal<"set" | "add" | "status">("set");
  const amount = useSignal("");
  const status = useSignal<PetStatus>("available");
  const reason = useSignal("");
  const error = useSignal("");
  const { progress, error: refusal } = bulk.value;
  const count = selected.value.size;

  async function submit(event: Event): Promise<void> {
    event.preventDefault();
    error.value = "";
    const common = { reason: reason.value.trim() };
    if (kind.value === "status") return applyToSelected({ ...common, status: status.value });
    const value = kind.value === "set" ? parseQuantity(amount.value) : parseDelta(amount.value);
    if (value === undefined) {
      error.value = kind.value === "set" ? quantityRule : "Enter a whole number, such as 5 or -2.";
      return undefined;
    }
    return applyToSelected({ ...common, [kind.value]: value });
  }

  return (
    <form class="bulk-bar" aria-label="Change the selected rows" novalidate onSubmit={submit}>
      <strong class="bulk-count">{formatCount(count)} selected</strong>
      <select
        class="select"
        aria-label="What to change"
        value={kind.value}
        onChange={(event) => {
          kind.value = event.currentTarget.value as typeof kind.value;
        }}
      >
        <option value="set">Set the quantity to</option>
        <option value="add">Add to the quantity</option>
        <option value="status">Set the status to</option>
      </select>
      {kind.value === "status" ? (
        <select
          class="select status-select"
          aria-label="Status"
          value={status.value}
          onChange={(event) => {
            status.value = event.currentTarget.value as PetStatus;
          }}
        >
          {petStatusValues.map((one) => (
            <option key={one} value={one}>
              {capitalized(one)}
            </option>
          ))}
        </select>
      ) : (
        <input
          class="input bulk-amount"
          aria-label="Quantity"
          inputMode={kind.value === "set" ? "numeric" : "text"}
          autocomplete="off"
          aria-invalid={error.value !== ""}
          value={amount.value}
          onInput={(event) => {
            amount.value = event.currentTarget.value;
          }}
        />
      )}
      <input
        class="input bulk-reason"
        placeholder="Reason (optional)"
        aria-label="Reason (optional)"
        maxLength={reasonCharactersMax}
        autocomplete="off"
        value={reason.value}
        onInput={(event) => {
          reason.value = event.currentTarget.value;
        }}
      />
      <button type="submit" class="button primary" disabled={progress !== undefined}>
        {progress ? `${formatCount(progress.applied)} of ${formatCount(progress.total)}` : "Apply"}
      </button>
      <button
        type="button"
        class="button"
        disabled={progress !== undefined}
        onClick={clearSelection}
      >
        Clear
      </button>
      {progress && (
        <progress
          class="meter"
          aria-label="Progress"
          value={progress.applied}
          max={progress.total}
        />
      )}
      <p class="field-error" role="alert">
        {error.value || refusal}
      </p>
    </form>
  );
}
