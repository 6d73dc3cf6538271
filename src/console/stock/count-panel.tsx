import { useSignal } from "@preact/signals";
import type { RefObject } from "preact";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { formatCount } from "../parts/numbers.ts";
import { CountSummary } from "./count-summary.tsx";
import { counts, recordCount } from "./counting.ts";
import { parseQuantity, quantityRule } from "./quantities.ts";
import { loadState, revision, table } from "./state.ts";

/** Scan or type an id, type the count, and go on with the next one. A scanner ends with Enter. */
export function CountPanel() {
  void revision.value;
  const idField = useRef<HTMLInputElement>(null);
  const countField = useRef<HTMLInputElement>(null);
  /** The id that was scanned. A row can be another pet when the table is loaded again. */
  const scanned = useSignal<string | undefined>(undefined);
  const error = useSignal("");
  const isReady = loadState.value.kind === "ready";
  useEffect(() => {
    if (isReady) idField.current?.focus();
  }, [isReady]);
  const row = scanned.value === undefined ? undefined : table.value.findRow(scanned.value);
  const current = row === undefined ? undefined : table.value.entryAt(row);

  function find(event: Event): void {
    event.preventDefault();
    const input = idField.current!;
    const petId = canonicalId(input.value);
    const isKnown = petId !== undefined && table.value.findRow(petId) !== undefined;
    scanned.value = isKnown ? petId : undefined;
    error.value = isKnown ? "" : notFound(input.value);
    if (!isKnown) input.select();
    else countField.current?.select();
  }

  function record(event: Event): void {
    event.preventDefault();
    const counted = parseQuantity(countField.current!.value);
    if (counted === undefined) {
      error.value = quantityRule;
      countField.current!.select();
      return;
    }
    if (row !== undefined) recordCount(row, counted);
    scanned.value = undefined;
    error.value = "";
    idField.current!.value = "";
    idField.current!.focus();
  }

  return (
    <div class="card count-panel">
      <div class="count-fields">
        <form class="field" onSubmit={find} novalidate>
          <label for="count-id">Id</label>
          <input
            ref={idField}
            id="count-id"
            class="input mono"
            inputMode="numeric"
            autocomplete="off"
            placeholder="Scan or type an id"
            disabled={!isReady}
            aria-describedby="count-error"
          />
        </form>
        {current && (
          <form class="field" onSubmit={record} novalidate>
            <label for="count-quantity">
              <bdi>{current.name}</bdi>: how many are there?
            </label>
            <div class="row">
              <CountField
                key={current.petId}
                field={countField}
                counted={counts.value.get(current.petId)?.counted}
              />
              <button type="submit" class="button primary">
                Next
              </button>
              <span class="muted small">Expected: {formatCount(current.quantity)}</span>
            </div>
          </form>
        )}
      </div>
      <p class="field-error" id="count-error" role="alert">
        {error.value}
      </p>
      <CountSummary />
    </div>
  );
}

interface CountFieldProps {
  readonly field: RefObject<HTMLInputElement | null>;
  readonly counted: number | undefined;
}

/** Has the focus when it appears, before the next key is pressed. */
function CountField({ field, counted }: CountFieldProps) {
  useLayoutEffect(() => field.current?.select(), [field]);
  return (
    <input
      ref={field}
      id="count-quantity"
      class="input"
      inputMode="numeric"
      autocomplete="off"
      defaultValue={String(counted ?? "")}
      aria-describedby="count-error"
    />
  );
}

/** A code may be printed with zeros before the id. */
function canonicalId(text: string): string | undefined {
  const [, sign, digits] = /^\s*(-?)0*(\d{1,19})\s*$/.exec(text) ?? [];
  return digits === undefined ? undefined : `${sign}${digits}`;
}

function notFound(text: string): string {
  return text.trim() === "" ? "Scan or type an id." : `No pet has the id ${text.trim()}.`;
}
