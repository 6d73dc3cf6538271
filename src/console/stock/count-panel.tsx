import { useSignal } from "@preact/signals";
import type { RefObject } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import { messageOf } from "../client/api.ts";
import { Button } from "../parts/button.tsx";
import { FieldError, takeForm } from "../parts/fields.tsx";
import { stop } from "../parts/question.tsx";
import { useScans } from "../parts/scanner.ts";
import { formatCount } from "../texts/formats.ts";
import { CountSummary } from "./count-summary.tsx";
import { type Count, countNow, counts, recordCount } from "./counting.ts";
import { findOrStop } from "./find-rows.ts";
import { quantityRule } from "./quantities.ts";
import { readQuantity } from "./quantity-reader.tsx";
import { current, loadState, table } from "./state.ts";
import type { Entry } from "./table.ts";

/** Scan or type an id or a barcode, type the count, and go on with the next one. A scanner ends with Enter. */
export function CountPanel() {
  const { entries } = current.value;
  const idField = useRef<HTMLInputElement>(null);
  const countField = useRef<HTMLInputElement>(null);
  /** The id that was scanned. A row can be another pet when the table is loaded again. */
  const scanned = useSignal<string | undefined>(undefined);
  const error = useSignal("");
  const row = scanned.value === undefined ? undefined : entries.findRow(scanned.value);
  const pet = row === undefined ? undefined : entries.entryAt(row);
  const isReady = loadState.value.kind === "ready";
  const goOn = () => (countField.current ?? idField.current)?.focus();
  useLayoutEffect(goOn, [isReady]);
  const gone = row === undefined ? scanned.value : undefined;
  useLayoutEffect(() => {
    if (gone === undefined) return;
    scanned.value = undefined;
    void stop(`Pet ${gone} was removed.`).then(goOn);
  }, [gone]);

  function find(text: string): void {
    idField.current!.value = text;
    const found = text === "" ? undefined : findOrStop(text);
    scanned.value = found === undefined ? undefined : table.value.ids[found];
    error.value = text === "" ? "Scan or type an id or a barcode." : "";
    if (found !== undefined) countField.current?.select();
  }

  // The next line. A count that was typed before it, and not ended, belongs to the pet of this one.
  useScans((code) => {
    const field = countField.current;
    if (!field || field.value === field.defaultValue) find(code);
    else void stop(`Press Enter after the count ${field.value} of ${pet?.name}. Then scan again.`);
  });

  async function record(): Promise<void> {
    const { value: text } = countField.current!;
    // Some scanners end with two Enters, and the second one is here.
    error.value = text.trim() === "" ? quantityRule : "";
    if (!pet || error.value !== "") return;
    const reading = readQuantity(text, [pet]);
    // The count is of this moment, not of the confirmation.
    const made = countNow(row!);
    try {
      const counted = await reading;
      if (counted !== undefined) finish(pet.petId, made, counted);
    } catch (failure) {
      void stop(`“${text}” is not a count. ${messageOf(failure)}`);
    }
  }

  function finish(petId: string, made: Count, counted: number): void {
    const found = table.value.findRow(petId);
    if (found !== undefined) recordCount(found, made, counted);
    scanned.value = undefined;
    idField.current!.value = "";
    idField.current!.focus();
  }

  return (
    <div class="card count-panel">
      <div class="count-fields">
        <form
          class="field"
          onSubmit={takeForm(() => find(idField.current!.value.trim()))}
          novalidate
        >
          <label for="count-id">Id or barcode</label>
          <input
            ref={idField}
            id="count-id"
            class="input mono"
            autocomplete="off"
            placeholder="Scan or type"
            disabled={!isReady}
            aria-describedby="count-error"
            onFocus={selectAll}
          />
        </form>
        {pet && (
          <CountForm
            key={pet.petId}
            entry={pet}
            field={countField}
            isDisabled={!isReady}
            record={record}
          />
        )}
      </div>
      <FieldError id="count-error">{error.value}</FieldError>
      <CountSummary />
    </div>
  );
}

/** Selects the text, so that typing replaces it. */
const selectAll = (event: Event) => (event.currentTarget as HTMLInputElement).select();

interface CountFormProps {
  readonly entry: Entry;
  readonly field: RefObject<HTMLInputElement | null>;
  readonly isDisabled: boolean;
  readonly record: () => Promise<void>;
}

/** Its field has the focus when it appears, before the next key is pressed. */
function CountForm({ entry, field, isDisabled, record }: CountFormProps) {
  useLayoutEffect(() => field.current?.select(), [field]);
  const counted = counts.value.get(entry.petId)?.counted;
  return (
    <form class="field" onSubmit={takeForm(record)} novalidate>
      <label for="count-quantity">
        <bdi>{entry.name}</bdi>: how many are there?
      </label>
      <div class="row">
        <input
          ref={field}
          id="count-quantity"
          class="input"
          inputMode="numeric"
          autocomplete="off"
          defaultValue={String(counted ?? "")}
          disabled={isDisabled}
          aria-describedby="count-error"
          onFocus={selectAll}
        />
        <Button kind="primary" isDisabled={isDisabled}>
          Next
        </Button>
        <span class="muted small">Expected: {formatCount(entry.quantity)}</span>
      </div>
    </form>
  );
}
