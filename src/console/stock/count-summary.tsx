import { useSignal } from "@preact/signals";
import { Confirmation } from "../parts/confirmation.tsx";
import { reasonCharactersMax } from "../parts/reasons.ts";
import { countOf, formatCount } from "../texts/numbers.ts";
import {
  applyCounts,
  type CountFilter,
  continueApplying,
  countError,
  countFilter,
  counts,
  differences,
  discardCounts,
  isApplying,
  showCounts,
  unfinished,
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
        <fieldset class="button-group" aria-label="Show">
          {filters.map(([filter, title, count]) => (
            <button
              type="button"
              key={filter}
              class="button small"
              aria-pressed={countFilter.value === filter}
              onClick={() => showCounts(filter)}
            >
              {title} <span class="muted">{formatCount(count)}</span>
            </button>
          ))}
        </fieldset>
        {unfinished.value.length > 0 ? <Continue /> : counted > 0 && <Finish />}
      </div>
      {countError.value && (
        <p class="field-error" role="alert">
          {countError.value}
        </p>
      )}
    </div>
  );
}

function Continue() {
  return (
    <div class="row">
      <span class="small">The last differences may not have been saved.</span>
      <button
        type="button"
        class="button primary"
        disabled={isApplying.value}
        onClick={() => void continueApplying()}
      >
        Send again
      </button>
    </div>
  );
}

function Finish() {
  const reason = useSignal("Stock count");
  const withMatches = useSignal(false);
  const isDiscarding = useSignal(false);
  const found = differences.value.length;
  const total = withMatches.value ? counts.value.size : found;
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
            onChange={(event) => {
              withMatches.value = event.currentTarget.checked;
            }}
          />
          Also record counts without a difference
        </label>
        <label class="row small">
          Reason
          <input
            class="input count-reason"
            maxLength={reasonCharactersMax}
            value={reason.value}
            onInput={(event) => {
              reason.value = event.currentTarget.value;
            }}
          />
        </label>
        <button type="button" class="button" onClick={() => (isDiscarding.value = true)}>
          Discard…
        </button>
        <button type="submit" class="button primary" disabled={isApplying.value || total === 0}>
          {isApplying.value
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
