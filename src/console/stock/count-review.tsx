import { useSignal } from "@preact/signals";
import { ShownError } from "../client/api.ts";
import { FormDialog } from "../parts/dialog-form.tsx";
import { TextField } from "../parts/fields.tsx";
import { reasonCharactersMax } from "../parts/reason-field.tsx";
import { Table } from "../parts/table.tsx";
import { countOf, formatCount, signed } from "../texts/formats.ts";
import { countedBy } from "./colleagues.ts";
import type { Count } from "./count-storage.ts";
import { applyCounts, isDifferent, known, sending } from "./counting.ts";
import { table } from "./state.ts";

interface Reviewed extends Count {
  readonly petId: string;
  readonly name: string;
  readonly difference: number;
}

/** More than half of what was expected, and at least 3. */
export function isSurprising({ counted, expected }: Pick<Count, "counted" | "expected">): boolean {
  const size = Math.abs(counted - expected);
  return size >= 3 && size > expected / 2;
}

/** The surprising ones first, then by size. */
function byInterest(one: Reviewed, other: Reviewed): number {
  const surprise = Number(isSurprising(other)) - Number(isSurprising(one));
  return surprise || Math.abs(other.difference) - Math.abs(one.difference);
}

/** A page with more rows would be slow, and nobody would read them. */
const shownMax = 200;

/** What the count would change, before it is applied. */
export function CountReview({ close }: { readonly close: () => void }) {
  const withMatches = useSignal(false);
  const { names } = table.value;
  const reviewed = known.value.map(([petId, count]): Reviewed => {
    const name = names[table.value.findRow(petId)!]!;
    return { ...count, petId, name, difference: count.counted - count.expected };
  });
  const found = reviewed.filter(isDifferent).sort(byInterest);
  const matches = reviewed.filter((one) => !isDifferent(one));
  const total = withMatches.value ? reviewed.length : found.length;
  return (
    <FormDialog
      title="Review the count"
      isWide
      action={`Apply ${countOf(total, withMatches.value ? "count" : "difference")}`}
      busyAction="Applying…"
      close={close}
      submit={async (form) => {
        if (total === 0) throw new ShownError("There is no difference to apply.");
        const reason = String(form.get("reason")).trim() || "Stocktake";
        await applyCounts(reason, withMatches.value);
        // What may have been stored is sent again from the panel, not from here.
        if (sending.rest.value.length > 0 || sending.error.value === "") return close();
        throw new ShownError(sending.error.value);
      }}
    >
      <p class="small muted">
        What was sold or delivered after a count is kept. Surprising differences come first: more
        than half of what was expected, and at least 3.
      </p>
      {found.length > 0 && (
        <Table
          caption="Differences"
          rows={found.slice(0, shownMax)}
          keyOf={({ petId }) => petId}
          columns={columns}
        />
      )}
      {found.length > shownMax && (
        <p class="small">And {formatCount(found.length - shownMax)} smaller ones.</p>
      )}
      {matches.length > 0 && (
        <details>
          <summary>{countOf(matches.length, "match", "matches")}</summary>
          <p class="small">
            {matches
              .slice(0, shownMax)
              .map(({ name, counted }) => `${name}: ${formatCount(counted)}`)
              .join(" · ")}
          </p>
        </details>
      )}
      <label class="row small">
        <input
          type="checkbox"
          class="checkbox"
          checked={withMatches.value}
          onChange={(event) => (withMatches.value = event.currentTarget.checked)}
        />
        Also record counts without a difference
      </label>
      <TextField name="reason" label="Reason" value="Stocktake" lengthMax={reasonCharactersMax} />
    </FormDialog>
  );
}

const columns = [
  {
    title: "Pet",
    isMain: true,
    cell: ({ name, petId }: Reviewed) => (
      <>
        <bdi>{name}</bdi> <span class="mono muted small">{petId}</span>
      </>
    ),
  },
  { title: "Expected", isNumber: true, cell: ({ expected }: Reviewed) => formatCount(expected) },
  { title: "Counted", isNumber: true, cell: ({ counted }: Reviewed) => formatCount(counted) },
  { title: "Difference", isNumber: true, cell: ({ difference }: Reviewed) => signed(difference) },
  { title: "Notes", cell: (one: Reviewed) => <Notes of={one} /> },
];

function Notes({ of }: { readonly of: Reviewed }) {
  const others = countedBy.value.get(of.petId);
  return (
    <span class="row">
      {isSurprising(of) && <span class="badge warning">Surprising</span>}
      {of.isOffline && <span class="badge">Typed offline</span>}
      {others && <span class="badge warning">Also counted by {others.join(", ")}</span>}
    </span>
  );
}
