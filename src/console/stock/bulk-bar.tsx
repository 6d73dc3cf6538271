import { effect, useSignal } from "@preact/signals";
import { changesMax } from "../../domain/values/bounds.ts";
import { messageOf } from "../client/api.ts";
import { may, onSignOut } from "../client/session.ts";
import type { PetStatus, StockChange } from "../client/types.ts";
import { showError, showSuccess } from "../page/messages.ts";
import { Button, LinkButton } from "../parts/button.tsx";
import { choicesOf, keptIn, Select } from "../parts/choices.tsx";
import { FieldError, ReasonInput } from "../parts/fields.tsx";
import { statusChoices } from "../parts/status.tsx";
import { countOf, formatCount } from "../texts/formats.ts";
import { stockQuery } from "./address.ts";
import { type Batch, countChanges, Sending, toBatches } from "./batches.ts";
import { readChange } from "./quantity-reader.tsx";
import { clearSelection, selected } from "./selection.ts";
import { table } from "./state.ts";

/**
 * Changes all selected rows. Changes left over from a lost connection come first, even if the table was
 * loaded again and no row is selected.
 */
export function BulkBar() {
  if (!may("clerk")) return null;
  const isSending = bulk.progress.value !== undefined;
  if (bulk.rest.value.length > 0 && !isSending) return <Rest />;
  return selected.value.size > 0 || isSending ? <BulkForm /> : null;
}

function Rest() {
  const { value: rest } = bulk.rest;
  return (
    <section class="row bulk-bar" aria-label="Changes that may not have been saved">
      <strong class="bulk-count">
        {countOf(countChanges(rest), "change")} may not have been saved
      </strong>
      <span class="bulk-reason small">Nothing is applied twice if you send again.</span>
      <div class="row">
        <Button kind="primary" onClick={() => sendBulk(rest)}>
          Send again
        </Button>
        <Button onClick={() => bulk.clear()}>Discard</Button>
      </div>
      <FieldError>{bulk.error.value}</FieldError>
    </section>
  );
}

const kinds = choicesOf({
  quantity: "Set the quantity to",
  delta: "Add to the quantity",
  status: "Set the status to",
});

function BulkForm() {
  const kind = useSignal<(typeof kinds)[number][0]>("quantity");
  const amount = useSignal("");
  const status = useSignal<PetStatus>("available");
  const reason = useSignal("");
  const error = useSignal("");
  const { value: progress } = bulk.progress;
  const { size } = selected.value;
  const isTotal = kind.value === "quantity";

  async function submit(event: Event): Promise<void> {
    event.preventDefault();
    error.value = "";
    const text = reason.value.trim();
    const common = text === "" ? {} : { reason: text };
    if (kind.value === "status") {
      await applyToSelected({ ...common, delta: 0, status: status.value });
      return;
    }
    try {
      const pets = [...selected.value].map((row) => table.value.entryAt(row));
      const read = await readChange(amount.value, pets, !isTotal);
      if (read) await applyToSelected({ ...common, ...read });
    } catch (failure) {
      error.value = messageOf(failure);
    }
  }

  return (
    <form class="row bulk-bar" aria-label="Change the selected rows" novalidate onSubmit={submit}>
      <strong class="bulk-count">{formatCount(size)} selected</strong>
      <Select label="What to change" choices={kinds} {...keptIn(kind)} />
      {kind.value === "status" ? (
        <Select label="Status" class="status-select" choices={statusChoices} {...keptIn(status)} />
      ) : (
        <input
          class="input bulk-amount"
          aria-label="Quantity"
          inputMode={isTotal ? "numeric" : "text"}
          autocomplete="off"
          aria-invalid={error.value !== ""}
          value={amount.value}
          onInput={(event) => (amount.value = event.currentTarget.value)}
        />
      )}
      <ReasonInput
        class="bulk-reason"
        value={reason.value}
        change={(text) => (reason.value = text)}
      />
      <Button kind="primary" isDisabled={progress !== undefined}>
        {progress ? `${formatCount(progress.applied)} of ${formatCount(progress.total)}` : "Apply"}
      </Button>
      {size <= changesMax && (
        <LinkButton to={`/stock/delivery${stockQuery.value}`}>Receive…</LinkButton>
      )}
      <Button isDisabled={progress !== undefined} onClick={clearSelection}>
        Clear
      </Button>
      {progress && (
        <progress
          class="meter"
          aria-label="Progress"
          value={progress.applied}
          max={progress.total}
        />
      )}
      <FieldError>{error.value || bulk.error.value}</FieldError>
    </form>
  );
}

const bulk = new Sending();

/** Does the same with every selected row. */
async function applyToSelected(change: Omit<StockChange, "petId">): Promise<void> {
  const { ids, versions } = table.value;
  const changes = [...selected.value].map((row) => ({
    petId: ids[row]!,
    // A new number replaces only what the person saw. A difference fits any number.
    ...(change.quantity === undefined ? {} : { expectedVersion: versions[row]! }),
    ...change,
  }));
  await sendBulk(toBatches(changes));
}

/** Sends changes, or what is left of them after the connection was lost. Nothing is applied twice. */
async function sendBulk(batches: readonly Batch[]): Promise<void> {
  let applied = 0;
  const isSent = await bulk.send(batches, ({ changes }) => {
    applied += changes.length;
  });
  if (isSent) {
    clearSelection();
    showSuccess(`Changed ${countOf(countChanges(batches), "entry", "entries")}`);
    return;
  }
  const { error, rest } = bulk;
  if (error.value === "") return;
  if (applied > 0) error.value = `${formatCount(applied)} entries were changed. ${error.value}`;
  // If no row is selected any more, the bar does not show the error.
  if (selected.value.size > 0 || rest.value.length > 0) return;
  showError(error.value);
  error.value = "";
}

// An error is about the rows that were selected when it occurred.
effect(() => {
  if (selected.value.size > 0) return;
  if (!bulk.progress.peek() && bulk.rest.peek().length === 0) bulk.error.value = "";
});

// The service knows a repeated batch only by the same key, so the next person must not send the rest.
onSignOut(() => bulk.clear());
