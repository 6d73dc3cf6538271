import { useSignal } from "@preact/signals";
import { useLayoutEffect } from "preact/hooks";
import { changesMax } from "../../domain/values/bounds.ts";
import { reasonCharactersMax } from "../../domain/values/texts.ts";
import { Button, LinkButton } from "../parts/button.tsx";
import { ButtonGroup } from "../parts/choices.tsx";
import { FieldError, ReasonInput, SearchField } from "../parts/fields.tsx";
import { PetName } from "../parts/names.tsx";
import { stop } from "../parts/question.tsx";
import { useScans, wasScanned } from "../parts/scanner.ts";
import { ViewHead } from "../parts/view.tsx";
import { countOf, formatCount } from "../texts/formats.ts";
import { stockQuery } from "./address.ts";
import * as deliveries from "./deliveries.ts";
import { isAmount } from "./delivery-lines.ts";
import { findOrStop, findRows } from "./find-rows.ts";
import { table } from "./state.ts";

const { added, changeDraft, draft, isSent, sending } = deliveries;

function focusFinder(): void {
  document.querySelector<HTMLElement>(".delivery-finder input")?.focus();
}

/** Each pet gets its own amount, by scan, search or paste. Then all of them are recorded at once. */
export function Delivery() {
  const { kind, lines, problems } = draft.value;
  // After a click, too, the next scan goes into its field.
  useLayoutEffect(focusFinder, [kind, lines.length, problems.length]);
  useLayoutEffect(deliveries.addSelected, []);
  return (
    <div class="stack">
      <ViewHead title={`Record a ${kind.toLowerCase()}`}>
        <LinkButton to={`/stock${stockQuery.value}`}>Back to the stock</LinkButton>
      </ViewHead>
      <fieldset disabled={isSent.value}>
        <ButtonGroup
          label="What to record"
          choices={deliveries.kinds.map((one) => [one, one])}
          isChosen={(one) => one === kind}
          choose={(one) => changeDraft({ kind: one })}
        />
      </fieldset>
      <Finder />
      <fieldset class="stack" disabled={isSent.value}>
        {problems.length > 0 && (
          <section class="notice warning spread" aria-label="Lines that were not added">
            <pre>
              {["Not added, because not one pet and a whole number:", ...problems].join("\n")}
            </pre>
            <Button onClick={() => changeDraft({ problems: [] })}>Dismiss</Button>
          </section>
        )}
        {lines.toReversed().map((line) => (
          <Line key={line[0]} line={line} />
        ))}
      </fieldset>
      {lines.length > 0 && <Finish />}
    </div>
  );
}

const suggestionsMax = 8;

/** Takes scans, searches, amounts and pasted rows. */
function Finder() {
  const text = useSignal("");
  const typed = text.value.trim();
  const found = typed === "" ? [] : findRows(typed).slice(0, suggestionsMax);
  const last = table.value.names[table.value.findRow(added.value) ?? -1];
  function add(row?: number): void {
    text.value = "";
    focusFinder();
    if (row !== undefined) deliveries.addOne(row);
    else void stop(`Not one pet has the id, barcode or name ${typed}.`);
  }
  useScans((code) => {
    if (typed !== "") void stop(`Press Enter after ${typed}, or delete it. Then scan again.`);
    else {
      const row = findOrStop(code);
      if (row !== undefined) add(row);
    }
  });
  function enter(event: Event): void {
    event.preventDefault();
    const isScanned = wasScanned(typed);
    const scanned = table.value.findScanned(typed);
    // A number that is only a part of an id is not the pet that was meant.
    const matches = /\D/.test(typed) ? found : [];
    const row = scanned ?? (matches.length === 1 ? matches[0] : undefined);
    if (last && isAmount(typed, isScanned, scanned !== undefined)) {
      deliveries.setAmount(added.value, typed);
      text.value = "";
    } else if (row === undefined && matches.length > 0 && !isScanned) {
      document.querySelector<HTMLElement>(".delivery-finder button")!.focus();
    } else if (typed !== "") add(row);
  }
  return (
    <form class="row delivery-finder" onSubmit={enter} onPaste={deliveries.paste}>
      <SearchField
        label="Scan, search or paste"
        placeholder={last ? `Amount of ${last}, or the next pet` : "Id, name or barcode"}
        text={text}
      />
      {found.map((row) => (
        <Button key={row} icon="plus" onClick={() => add(row)}>
          <bdi>{table.value.names[row]}</bdi> {table.value.ids[row]}
        </Button>
      ))}
      <p class="hint">
        A scan adds one, and a number after it sets the amount. Or paste two columns of a sheet
        here: id, barcode or name, and the amount.
      </p>
    </form>
  );
}

function Line({ line }: { readonly line: deliveries.Line }) {
  const [petId, amount] = line;
  const { name, now, delta, fault } = deliveries.resultOf(line);
  const remove = () => changeDraft({ lines: draft.value.lines.filter((one) => one !== line) });
  return (
    <div class="row">
      <PetName petId={petId} />
      <span class="spacer" />
      <span class={fault ? "badge danger" : ""}>
        {formatCount(now)} → {formatCount(now + delta)}
      </span>
      <input
        id={`amount-${petId}`}
        class="input number delivery-amount"
        inputMode="numeric"
        autocomplete="off"
        aria-label={`Amount of ${name}`}
        aria-invalid={fault !== ""}
        value={amount}
        onKeyDown={({ key }) => key === "Enter" && focusFinder()}
        onInput={(event) => deliveries.setAmount(petId, event.currentTarget.value)}
      />
      <Button kind="quiet" icon="close" label={`Remove ${name}`} onClick={remove} />
    </div>
  );
}

/** The total, the reference, and the end of it. The Enter of a scanner sends nothing: only the button does. */
function Finish() {
  const { kind, lines, reference } = draft.value;
  const results = lines.map(deliveries.resultOf).filter(({ delta, fault }) => delta !== 0 || fault);
  const pieces = results.reduce((sum, { delta }) => sum + Math.abs(delta), 0);
  const isSending = sending.progress.value !== undefined;
  const isLost = isSent.value && !isSending;
  const wrong = isSent.value ? undefined : results.find(({ fault }) => fault);
  const isReady = !isSending && !wrong && pieces > 0 && results.length <= changesMax;
  return (
    <form class="row bulk-bar" aria-label="Record" method="dialog" onSubmit={focusFinder}>
      <strong class="bulk-count" role="status">
        {countOf(results.length, "kind")}, {countOf(pieces, "piece")}
      </strong>
      <ReasonInput
        class="bulk-reason"
        label="Reference, such as delivery note 4711"
        lengthMax={reasonCharactersMax - "Delivery: ".length}
        value={reference}
        isDisabled={isSent.value}
        change={(text) => changeDraft({ reference: text })}
      />
      <Button isDisabled={isSending} onClick={deliveries.discardDraft}>
        Discard
      </Button>
      <Button kind="primary" isDisabled={!isReady} onClick={deliveries.recordDraft}>
        {isSending ? "Recording…" : isLost ? "Send again" : `Record ${kind.toLowerCase()}`}
      </Button>
      <FieldError>
        {wrong ? `${wrong.name}: ${wrong.fault}` : sending.error.value}
        {isLost && " It may not be recorded yet. Send it again: nothing is recorded twice."}
        {results.length > changesMax && " At most 1,000 kinds are recorded at once."}
      </FieldError>
    </form>
  );
}
