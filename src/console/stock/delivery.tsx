import { useSignal } from "@preact/signals";
import { useLayoutEffect, useRef } from "preact/hooks";
import { Button, LinkButton } from "../parts/button.tsx";
import { ButtonGroup } from "../parts/choices.tsx";
import { FieldError } from "../parts/fields.tsx";
import { PetName } from "../parts/names.tsx";
import { ReasonInput } from "../parts/reason-field.tsx";
import { SearchField } from "../parts/search-field.tsx";
import { ViewHead } from "../parts/view-head.tsx";
import { countOf, formatCount } from "../texts/formats.ts";
import { batchSizeMax } from "./batches.ts";
import { CountStop } from "./count-stop.tsx";
import * as deliveries from "./deliveries.ts";
import { isScan, parseAmount } from "./delivery-lines.ts";
import { searchRows, sortRows } from "./order.ts";
import { revision, table } from "./state.ts";

const { draft, failure, isSent, scanned, sending, sign, total, unknownCode } = deliveries;

function focusFinder(): void {
  unknownCode.value = "";
  document.querySelector<HTMLElement>(".delivery-finder input")?.focus();
}

/** Each pet gets its own amount, by scan, search or paste. Then all of them are recorded at once. */
export function Delivery() {
  const { kind, rows, problems } = draft.value;
  const unknown = `No pet has the id, barcode or name ${unknownCode.value}.`;
  return (
    <div class="stack">
      <ViewHead title={`Record a ${kind.toLowerCase()}`}>
        <LinkButton to="/stock">Back to the stock</LinkButton>
      </ViewHead>
      <ButtonGroup
        label="What to record"
        choices={deliveries.kinds.map((one) => [one, one])}
        isChosen={(one) => one === kind}
        choose={(one) => deliveries.changeDraft({ kind: one })}
      />
      <Finder />
      {unknownCode.value && (
        <CountStop message={unknown} record={focusFinder} dismiss={focusFinder} />
      )}
      {problems.length > 0 && (
        <section class="notice warning spread" aria-label="Lines that were not added">
          <pre>{problems.join("\n")}</pre>
          <Button onClick={() => deliveries.changeDraft({ problems: [] })}>Dismiss</Button>
        </section>
      )}
      <ul class="delivery-rows">
        {rows.toReversed().map(([petId, amount]) => (
          <Row key={petId} petId={petId} amount={amount} />
        ))}
      </ul>
      {rows.length > 0 && <Finish />}
    </div>
  );
}

const suggestionsMax = 8;

function suggest(text: string): readonly number[] {
  if (text.trim() === "") return [];
  const rows = sortRows(table.value, { column: "name", isDescending: false });
  return [...searchRows(table.value, rows, text).subarray(0, suggestionsMax)];
}

/** Takes scans, searches and pasted rows. */
function Finder() {
  const text = useSignal("");
  useLayoutEffect(focusFinder, []);
  function add(row?: number): void {
    const typed = text.value.trim();
    text.value = "";
    deliveries.scan(typed, row);
  }
  function enter(event: Event): void {
    event.preventDefault();
    const typed = text.value.trim();
    const found = suggest(typed);
    // A number that is only a part of an id is not the pet that was meant.
    const isName = found.length > 0 && /\D/.test(typed);
    const only = isName && found.length === 1 ? found[0] : undefined;
    const row = table.value.findScanned(typed) ?? only;
    if (row !== undefined || (typed !== "" && !isName)) add(row);
  }
  function paste(event: ClipboardEvent): void {
    const pasted = event.clipboardData?.getData("text") ?? "";
    if (!/[\t;,\r\n]/.test(pasted)) return;
    event.preventDefault();
    deliveries.addLines(pasted);
  }
  return (
    <form class="row delivery-finder" novalidate onSubmit={enter} onPaste={paste}>
      <SearchField
        label="Scan, search or paste"
        value={text.value}
        search={(typed) => (text.value = typed)}
      />
      {suggest(text.value).map((row) => (
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

interface RowProps {
  readonly petId: string;
  readonly amount: string;
}

/** After a scan, its field has the focus: a number replaces the amount, the next scan adds its pet. */
function Row({ petId, amount }: RowProps) {
  void revision.value;
  const field = useRef<HTMLInputElement>(null);
  /** The amount before somebody began to type, and when the first key was pressed. */
  const typing = useRef({ before: "", since: 0 });
  const begin = () => {
    typing.current = { before: field.current!.value, since: 0 };
    field.current!.select();
  };
  useLayoutEffect(() => {
    if (scanned.value.petId !== petId) return;
    field.current!.focus();
    begin();
  }, [scanned.value]);
  function press({ key, timeStamp }: KeyboardEvent): void {
    const { before, since } = typing.current;
    if (key !== "Enter") typing.current.since ||= timeStamp;
    else if (isScan(amount, timeStamp - since, table.value.findScanned(amount) !== undefined)) {
      deliveries.setAmount(petId, before);
      deliveries.scan(amount.trim());
    } else focusFinder();
  }
  const row = table.value.findRow(petId) ?? -1;
  const now = table.value.quantities[row] ?? 0;
  const then = now + sign.value * (parseAmount(amount) ?? 0);
  return (
    <li class="row">
      <PetName petId={petId} />
      <span class="number">
        {formatCount(now)} → <span class={then < 0 ? "badge danger" : ""}>{formatCount(then)}</span>
      </span>
      <input
        ref={field}
        id={`amount-${petId}`}
        class="input number"
        inputMode="numeric"
        autocomplete="off"
        placeholder="0"
        aria-label={`Amount of ${table.value.names[row] ?? petId}`}
        aria-invalid={parseAmount(amount) === undefined || failure.value.petId === petId}
        value={amount}
        disabled={isSent.value}
        onFocus={begin}
        onKeyDown={press}
        onInput={(event) => deliveries.setAmount(petId, event.currentTarget.value)}
      />
    </li>
  );
}

/** The total, the reference, and the end of it. */
function Finish() {
  const { kind, reference } = draft.value;
  const { kinds, pieces } = total.value;
  const { message, petId } = failure.value;
  const isSending = sending.progress.value !== undefined;
  const isLost = isSent.value && !isSending;
  const isReady = !isSending && kinds > 0 && kinds <= batchSizeMax;
  const name = table.value.names[table.value.findRow(petId) ?? -1] ?? petId;
  return (
    <form class="bulk-bar" aria-label="Record" novalidate onSubmit={deliveries.recordDraft}>
      <strong class="bulk-count" role="status">
        {countOf(kinds, "kind")}, {countOf(pieces, "piece")}
      </strong>
      <ReasonInput
        class="bulk-reason"
        label="Reference, such as delivery note 4711"
        value={reference}
        isDisabled={isSent.value}
        change={(text) => deliveries.changeDraft({ reference: text })}
      />
      <Button isDisabled={isSending} onClick={deliveries.discardDraft}>
        Discard
      </Button>
      <button type="submit" class="button primary" disabled={!isReady}>
        {isSending ? "Recording…" : isLost ? "Send again" : `Record ${kind.toLowerCase()}`}
      </button>
      <FieldError>
        {name && `${name}: `}
        {message}
        {isLost && " It may not be recorded yet. Send it again: nothing is recorded twice."}
        {kinds > batchSizeMax && `At most ${formatCount(batchSizeMax)} kinds are recorded at once.`}
      </FieldError>
    </form>
  );
}
