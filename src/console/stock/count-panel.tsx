import { useSignal } from "@preact/signals";
import type { RefObject } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import { FieldError } from "../parts/fields.tsx";
import { formatCount } from "../texts/formats.ts";
import { CountStop, type Stop } from "./count-stop.tsx";
import type { Count } from "./count-storage.ts";
import { CountSummary } from "./count-summary.tsx";
import { countNow, counts, recordCount } from "./counting.ts";
import { isDoubtful, parseQuantity, quantityRule } from "./quantities.ts";
import { loadState, revision, table } from "./state.ts";
import type { Entry } from "./table.ts";

/** Scan or type an id or a barcode, type the count, and go on with the next one. A scanner ends with Enter. */
export function CountPanel() {
  void revision.value;
  const idField = useRef<HTMLInputElement>(null);
  const countField = useRef<HTMLInputElement>(null);
  /** The id that was scanned. A row can be another pet when the table is loaded again. */
  const scanned = useSignal<string | undefined>(undefined);
  const error = useSignal("");
  const stopped = useSignal<Stop | undefined>(undefined);
  const row = scanned.value === undefined ? undefined : table.value.findRow(scanned.value);
  const current = row === undefined ? undefined : table.value.entryAt(row);
  const isGone = scanned.value !== undefined && row === undefined;
  const stop: Stop | undefined = isGone
    ? { message: `Pet ${scanned.value} was removed.` }
    : stopped.value;
  const isReady = loadState.value.kind === "ready" && stop === undefined;
  useLayoutEffect(() => {
    if (isReady) (countField.current ?? idField.current)?.select();
  }, [isReady]);

  function find(event: Event): void {
    event.preventDefault();
    const input = idField.current!;
    const found = table.value.findScanned(input.value);
    const text = input.value.trim();
    scanned.value = found === undefined ? undefined : table.value.ids[found];
    error.value = text === "" ? "Scan or type an id or a barcode." : "";
    if (found !== undefined) countField.current?.select();
    else if (text !== "") stopped.value = { message: `No pet has the id or barcode ${text}.` };
  }

  /** A barcode that is scanned a second time. */
  const isScanned = (text: string) => text.trim() === table.value.barcodes.get(row!);

  function record(event: Event): void {
    event.preventDefault();
    const { value: text } = countField.current!;
    const counted = parseQuantity(text);
    // Some scanners end with two Enters, and the second one is here.
    error.value = text.trim() === "" ? quantityRule : "";
    if (!current || error.value !== "") return;
    if (counted === undefined) {
      stopped.value = { message: `“${text}” is not a count. ${quantityRule}` };
    } else if (isScanned(text) || isDoubtful(text, current.petId, current.quantity)) {
      const message = (
        <>
          <bdi>{current.name}</bdi>: is the count {formatCount(counted)}? The stock is{" "}
          {formatCount(current.quantity)}.
        </>
      );
      // Its moment is now, and not when it is confirmed.
      stopped.value = { message, doubted: countNow(row!, counted) };
    } else finish(countNow(row!, counted));
  }

  function finish(count: Count): void {
    if (row !== undefined) recordCount(row, count);
    scanned.value = undefined;
    stopped.value = undefined;
    idField.current!.value = "";
    idField.current!.focus();
  }

  function dismiss(): void {
    stopped.value = undefined;
    if (isGone) scanned.value = undefined;
  }

  return (
    <div class="card count-panel">
      <div class="count-fields">
        <form class="field" onSubmit={find} novalidate>
          <label for="count-id">Id or barcode</label>
          <input
            ref={idField}
            id="count-id"
            class="input mono"
            autocomplete="off"
            placeholder="Scan or type"
            disabled={!isReady}
            aria-describedby="count-error"
          />
        </form>
        {current && (
          <CountForm
            key={current.petId}
            entry={current}
            field={countField}
            isDisabled={!isReady}
            record={record}
          />
        )}
      </div>
      <FieldError id="count-error">{error.value}</FieldError>
      {stop && <CountStop {...stop} record={finish} dismiss={dismiss} />}
      <CountSummary />
    </div>
  );
}

interface CountFormProps {
  readonly entry: Entry;
  readonly field: RefObject<HTMLInputElement | null>;
  readonly isDisabled: boolean;
  readonly record: (event: Event) => void;
}

/** Its field has the focus when it appears, before the next key is pressed. */
function CountForm({ entry, field, isDisabled, record }: CountFormProps) {
  useLayoutEffect(() => field.current?.select(), [field]);
  const counted = counts.value.get(entry.petId)?.counted;
  return (
    <form class="field" onSubmit={record} novalidate>
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
        />
        <button type="submit" class="button primary" disabled={isDisabled}>
          Next
        </button>
        <span class="muted small">Expected: {formatCount(entry.quantity)}</span>
      </div>
    </form>
  );
}
