import { useSignal } from "@preact/signals";
import { reasonCharactersMax } from "../../domain/values/texts.ts";
import { ShownError } from "../client/api.ts";
import { Button } from "../parts/button.tsx";
import { ButtonGroup, numbered } from "../parts/choices.tsx";
import { Confirmation, FormDialog } from "../parts/dialog-form.tsx";
import { FieldError, TextField } from "../parts/fields.tsx";
import { type Column, Table } from "../parts/table.tsx";
import { countOf, formatCount, signed } from "../texts/formats.ts";
import { colleagues, countedBy, exchange, useColleagues } from "./colleagues.ts";
import {
  applyCounts,
  type Count,
  type CountFilter,
  countFilter,
  counts,
  differences,
  discardCounts,
  known,
  mustRepeat,
  sending,
  showCounts,
} from "./counting.ts";
import { current, table } from "./state.ts";

/** How far the count is, what to show below, and the end of the count. */
export function CountSummary() {
  const counted = counts.value.size;
  const { size } = current.value.entries;
  const filters: readonly (readonly [CountFilter, string, number])[] = [
    ["all", "All", size],
    ["uncounted", "Uncounted", Math.max(0, size - counted)],
    ["counted", "Counted", counted],
    ["different", "Differences", differences.value.length],
  ];
  return (
    <div class="stack">
      <Colleagues />
      <progress class="meter" aria-label="Counted entries" value={counted} max={size} />
      <div class="spread">
        <ButtonGroup
          label="Show"
          choices={filters.map(([filter, title, size]) => [filter, numbered(title, size)])}
          isChosen={(filter) => filter === countFilter.value}
          choose={showCounts}
        />
        {counted > 0 && <Finish />}
      </div>
      {sending.error.value && <FieldError>{sending.error.value}</FieldError>}
    </div>
  );
}

function Finish() {
  const isReviewing = useSignal(false);
  const isDiscarding = useSignal(false);
  const isSending = sending.progress.value !== undefined;
  return (
    <>
      <div class="row">
        <Button onClick={() => (isDiscarding.value = true)}>Discard…</Button>
        <Button kind="primary" isDisabled={isSending} onClick={() => (isReviewing.value = true)}>
          Review and apply…
        </Button>
      </div>
      {isReviewing.value && <CountReview close={() => (isReviewing.value = false)} />}
      {isDiscarding.value && (
        <Confirmation
          title="Discard the count"
          action="Discard"
          run={async () => discardCounts()}
          close={() => (isDiscarding.value = false)}
        >
          <p>
            {countOf(counts.value.size, "counted entry", "counted entries")} will be forgotten. The
            stock stays as it is.
          </p>
        </Confirmation>
      )}
    </>
  );
}

/** How far the others are. */
function Colleagues() {
  useColleagues();
  if (colleagues.value.length === 0) return null;
  const size = formatCount(current.value.entries.size);
  return (
    <p class="small muted" data-colleagues>
      {colleagues.value.map(({ keyName, pets }, index) => (
        <span key={index}>
          {formatCount(pets.length)} of {size} counted by <bdi>{keyName}</bdi>.{" "}
        </span>
      ))}
    </p>
  );
}

type Counted = readonly [petId: string, count: Count];

const sizeOf = ({ counted, expected }: Count) => Math.abs(counted - expected);

/** More than half of what was expected, and at least 3. */
const isSurprising = (count: Count) => sizeOf(count) >= 3 && sizeOf(count) > count.expected / 2;

/** The surprising ones first, then by size. */
const rankOf = ([, count]: Counted) => (isSurprising(count) ? 2 ** 53 : 0) + sizeOf(count);

/** A page with more rows would be slow, and nobody would read them. */
const shownMax = 200;

/** What the count would change, before it is applied. */
function CountReview({ close }: { readonly close: () => void }) {
  const withMatches = useSignal(false);
  const found = [...differences.value].sort((one, other) => rankOf(other) - rankOf(one));
  const total = withMatches.value ? known.value.length : found.length;
  async function submit(form: FormData): Promise<void> {
    if (total === 0) throw new ShownError("There is no difference to apply.");
    // The clock of the ledger may not be known yet, or one may have been set.
    await exchange();
    await applyCounts(String(form.get("reason")).trim() || "Stocktake", withMatches.value);
    if (sending.error.value !== "") throw new ShownError(sending.error.value);
    close();
  }
  return (
    <FormDialog
      title="Review the count"
      isWide
      action={`Apply ${countOf(total, withMatches.value ? "count" : "difference")}`}
      busyAction="Applying…"
      close={close}
      submit={submit}
    >
      <p class="small muted">
        What was sold or delivered after a count is kept. Surprising differences come first: more
        than half of what was expected, and at least 3.
      </p>
      <Table
        scrollLabel="Differences"
        rows={found.slice(0, shownMax)}
        keyOf={([petId]) => petId}
        columns={columns}
      />
      {found.length > shownMax && <p>And {formatCount(found.length - shownMax)} smaller ones.</p>}
      <p>{countOf(known.value.length - found.length, "count")} without a difference.</p>
      <label class="row small">
        <input
          type="checkbox"
          class="checkbox"
          onChange={(event) => (withMatches.value = event.currentTarget.checked)}
        />
        Also record counts without a difference
      </label>
      <TextField name="reason" label="Reason" value="Stocktake" lengthMax={reasonCharactersMax} />
    </FormDialog>
  );
}

const columns: readonly Column<Counted>[] = [
  {
    title: "Pet",
    isMain: true,
    cell: ([petId]) => <bdi title={petId}>{table.value.names[table.value.findRow(petId)!]}</bdi>,
  },
  { title: "Expected", isNumber: true, cell: ([, { expected }]) => formatCount(expected) },
  { title: "Counted", isNumber: true, cell: ([, { counted }]) => formatCount(counted) },
  { title: "Difference", isNumber: true, cell: ([, one]) => signed(one.counted - one.expected) },
  { title: "Notes", cell: notesOn },
];

function notesOn([petId, count]: Counted): string {
  const others = countedBy.value.get(petId);
  const offline = mustRepeat(count) ? "Count again with a connection" : "Typed offline";
  const notes = [isSurprising(count) && "Surprising", !count.isPlaced && offline];
  return [...notes, others && `Also counted by ${others}`].filter(Boolean).join("; ");
}
