import { useSignal } from "@preact/signals";
import { Button } from "../parts/button.tsx";
import { ButtonGroup } from "../parts/choices.tsx";
import { Confirmation } from "../parts/confirmation.tsx";
import { FieldError } from "../parts/fields.tsx";
import { reasonCharactersMax } from "../parts/reason-field.tsx";
import { countOf, formatCount } from "../texts/formats.ts";
import {
  applyCounts,
  type CountFilter,
  continueApplying,
  countFilter,
  counts,
  differences,
  discardCounts,
  sending,
  showCounts,
} from "./counting.ts";
import { table } from "./state.ts";

/** How far the count is, what to show below, and the end of the count. */
export function CountSummary() {
  const counted = counts.value.size;
  const { size } = table.value;
  const filters: readonly (readonly [CountFilter, string, number])[] = [
    ["all", "All", size],
    ["uncounted", "Uncounted", Math.max(0, size - counted)],
    ["counted", "Counted", counted],
    ["different", "Differences", differences.value.length],
  ];
  return (
    <div class="stack">
      <progress class="meter" aria-label="Counted entries" value={counted} max={size} />
      <div class="spread">
        <ButtonGroup
          label="Show"
          choices={filters.map(([filter, title, count]) => [
            filter,
            <>
              {title} <span class="muted">{formatCount(count)}</span>
            </>,
          ])}
          isChosen={(filter) => filter === countFilter.value}
          choose={showCounts}
        />
        {sending.rest.value.length > 0 ? <Continue /> : counted > 0 && <Finish />}
      </div>
      {sending.error.value && <FieldError>{sending.error.value}</FieldError>}
    </div>
  );
}

function Continue() {
  return (
    <div class="row">
      <span class="small">The last differences may not have been saved.</span>
      <Button
        kind="primary"
        isDisabled={sending.progress.value !== undefined}
        onClick={() => continueApplying()}
      >
        Send again
      </Button>
    </div>
  );
}

function Finish() {
  const reason = useSignal("Stock count");
  const withMatches = useSignal(false);
  const isDiscarding = useSignal(false);
  const found = differences.value.length;
  const total = withMatches.value ? counts.value.size : found;
  const isApplying = sending.progress.value !== undefined;
  return (
    <>
      <form
        class="row"
        novalidate
        onSubmit={(event) => {
          event.preventDefault();
          void applyCounts(reason.value.trim() || "Stock count", withMatches.value);
        }}
      >
        <label class="row small">
          <input
            type="checkbox"
            class="checkbox"
            checked={withMatches.value}
            onChange={(event) => (withMatches.value = event.currentTarget.checked)}
          />
          Also record counts without a difference
        </label>
        <label class="row small">
          Reason
          <input
            class="input count-reason"
            maxLength={reasonCharactersMax}
            value={reason.value}
            onInput={(event) => (reason.value = event.currentTarget.value)}
          />
        </label>
        <Button onClick={() => (isDiscarding.value = true)}>Discard…</Button>
        <button type="submit" class="button primary" disabled={isApplying || total === 0}>
          {isApplying
            ? "Applying…"
            : `Apply ${countOf(total, withMatches.value ? "count" : "difference")}`}
        </button>
      </form>
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
