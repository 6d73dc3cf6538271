import { useSignal } from "@preact/signals";
import { useEffect, useLayoutEffect } from "preact/hooks";
import { Button, LinkButton } from "../parts/button.tsx";
import { ButtonGroup } from "../parts/choices.tsx";
import { FieldError } from "../parts/fields.tsx";
import { reasonCharactersMax } from "../parts/reason-field.tsx";
import { SearchField } from "../parts/search-field.tsx";
import { Table } from "../parts/table.tsx";
import { ViewHead } from "../parts/view-head.tsx";
import { countOf, formatCount } from "../texts/formats.ts";
import { batchSizeMax } from "./batches.ts";
import { CountStop } from "./count-stop.tsx";
import * as deliveries from "./deliveries.ts";
import { isScan, parseAmount } from "./delivery-lines.ts";
import { searchRows, sortRows } from "./order.ts";
import { revision, table } from "./state.ts";

const { draft, failure, isSent, scanned, sending, total, unknownCode } = deliveries;
const fieldId = (petId: string) => `amount-${petId}`;
const focusFinder = () => document.querySelector<HTMLElement>(".delivery-finder input")?.focus();

/** Each pet gets its own amount, by scan, search or paste. Then all of them are recorded at once. */
export function Delivery() {
  const { kind, rows, problems } = draft.value;
  useEffect(() => {
    scanned.value = { petId: "" };
  }, []);
  return (
    <div class="stack delivery">
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
      {unknownCode.value !== "" && (
        <CountStop
          message={`No pet has the id, barcode or name ${unknownCode.value}.`}
          record={() => undefined}
          dismiss={() => {
            unknownCode.value = "";
            focusFinder();
          }}
        />
      )}
      {problems.length > 0 && (
        <section class="notice warning spread" aria-label="Lines that were not added">
          <ul>
            {problems.map((problem) => (
              <li key={problem}>{problem}</li>
            ))}
          </ul>
          <Button onClick={() => deliveries.changeDraft({ problems: [] })}>Dismiss</Button>
        </section>
      )}
      {rows.length > 0 && <Rows />}
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
  useLayoutEffect(() => focusFinder(), []);
  const add = (row: number) => {
    text.value = "";
    deliveries.addOne(row);
  };
  const enter = (event: Event) => {
    event.preventDefault();
    const typed = text.value.trim();
    const found = suggest(typed);
    // A number that is only a part of an id is not the pet that was meant.
    const only = found.length === 1 && /\D/.test(typed) ? found[0] : undefined;
    const row = deliveries.findRowByCode(typed) ?? only;
    if (row !== undefined) add(row);
    else if (typed !== "" && found.length === 0) stopAt(typed);
  };
  const paste = (event: ClipboardEvent) => {
    const pasted = event.clipboardData?.getData("text") ?? "";
    if (!/[\t;,\r\n]/.test(pasted)) return;
    event.preventDefault();
    deliveries.addLines(pasted);
  };
  return (
    <form class="delivery-finder stack" novalidate onSubmit={enter} onPaste={paste}>
      <SearchField
        label="Scan, search or paste"
        value={text.value}
        search={(typed) => (text.value = typed)}
      />
      <div class="row">
        {suggest(text.value).map((row) => (
          <Button key={row} isSmall icon="plus" onClick={() => add(row)}>
            <bdi>{table.value.names[row]}</bdi>{" "}
            <span class="muted mono">{table.value.ids[row]}</span>
          </Button>
        ))}
      </div>
      <p class="hint">
        A scan adds one, and a number after it sets the amount. Or paste two columns of a sheet
        here: id, barcode or name, and the amount.
      </p>
    </form>
  );
}

/** The focus leaves the field, so that the next scan goes nowhere. */
function stopAt(code: string): void {
  (document.activeElement as HTMLElement).blur();
  unknownCode.value = code;
}

function Rows() {
  void revision.value;
  const { names, quantities } = table.value;
  useLayoutEffect(() => {
    const field = document.getElementById(fieldId(scanned.value.petId)) as HTMLInputElement | null;
    field?.focus();
    if (field) begin(field);
  }, [scanned.value]);
  const rows = draft.value.rows.toReversed().map(([petId, amount]) => {
    const row = table.value.findRow(petId);
    const now = row === undefined ? 0 : quantities[row]!;
    const after = now + deliveries.sign.value * (parseAmount(amount) ?? 0);
    return { petId, amount, name: row === undefined ? "Unknown pet" : names[row]!, now, after };
  });
  return (
    <Table
      class="delivery-table"
      rows={rows}
      keyOf={({ petId }) => petId}
      mark={({ petId }) => (petId === scanned.value.petId ? { class: "is-selected" } : {})}
      columns={[
        {
          title: "Pet",
          cell: ({ petId, name }) => (
            <>
              <bdi>{name}</bdi> <span class="muted mono">{petId}</span>
            </>
          ),
        },
        { title: "Stock", isNumber: true, cell: ({ now }) => formatCount(now) },
        { title: "Amount", isNumber: true, cell: (row) => <Amount {...row} /> },
        {
          title: "Then",
          isNumber: true,
          cell: ({ after }) => (
            <span class={after < 0 ? "badge danger" : ""}>{formatCount(after)}</span>
          ),
        },
      ]}
    />
  );
}

/** The amount before somebody began to type, and when the first key was pressed. */
let typing = { before: "", since: 0 };

function begin(field: HTMLInputElement): void {
  typing = { before: field.value, since: 0 };
  field.select();
}

interface AmountProps {
  readonly petId: string;
  readonly name: string;
  readonly amount: string;
}

/** After a scan, it has the focus: a number replaces the amount, and another scan adds to its own pet. */
function Amount({ petId, name, amount }: AmountProps) {
  function press({
    key,
    timeStamp,
    currentTarget,
  }: KeyboardEvent & { currentTarget: HTMLInputElement }): void {
    if (key !== "Enter" && key !== "Escape") {
      typing.since ||= timeStamp;
      return;
    }
    const text = currentTarget.value.trim();
    const row = deliveries.findRowByCode(text);
    const isNext = key === "Enter" && isScan(text, timeStamp - typing.since, row !== undefined);
    if (isNext || key === "Escape") deliveries.setAmount(petId, typing.before);
    if (!isNext) focusFinder();
    else if (row === undefined) stopAt(text);
    else deliveries.addOne(row);
  }
  return (
    <input
      id={fieldId(petId)}
      class="input number"
      inputMode="numeric"
      autocomplete="off"
      placeholder="0"
      aria-label={`Amount of ${name}`}
      aria-invalid={parseAmount(amount) === undefined || failure.value.petId === petId}
      value={amount}
      disabled={isSent.value}
      onFocus={(event) => begin(event.currentTarget)}
      onKeyDown={press}
      onInput={(event) => deliveries.setAmount(petId, event.currentTarget.value)}
    />
  );
}

/** The total, the reference, and the end of it. */
function Finish() {
  const { kind, reference } = draft.value;
  const { kinds, pieces } = total.value;
  const { message, petId } = failure.value;
  const isSending = sending.progress.value !== undefined;
  const row = table.value.findRow(petId);
  return (
    <form
      class="bulk-bar"
      aria-label="Record"
      novalidate
      onSubmit={(event) => {
        event.preventDefault();
        void deliveries.recordDraft();
      }}
    >
      <strong class="bulk-count" role="status">
        {countOf(kinds, "kind")}, {countOf(pieces, "piece")}
      </strong>
      <input
        class="input bulk-reason"
        aria-label="Reference (optional)"
        placeholder="Reference, such as delivery note 4711"
        maxLength={reasonCharactersMax - "Delivery: ".length}
        value={reference}
        disabled={isSent.value}
        onInput={(event) => deliveries.changeDraft({ reference: event.currentTarget.value })}
      />
      <Button isDisabled={isSending} onClick={deliveries.discardDraft}>
        Discard
      </Button>
      <button
        type="submit"
        class="button primary"
        disabled={isSending || kinds === 0 || kinds > batchSizeMax}
      >
        {isSent.value ? (isSending ? "Recording…" : "Send again") : `Record ${kind.toLowerCase()}`}
      </button>
      <FieldError>
        {row !== undefined && <bdi>{table.value.names[row]}: </bdi>}
        {message}{" "}
        {isSent.value &&
          !isSending &&
          "This may not be recorded yet. Send it again: nothing is recorded twice."}
        {kinds > batchSizeMax && `At most ${formatCount(batchSizeMax)} kinds are recorded at once.`}
      </FieldError>
    </form>
  );
}
