import { useSignal } from "@preact/signals";
import { Button } from "../parts/button.tsx";
import { ButtonGroup, numbered } from "../parts/choices.tsx";
import { Confirmation } from "../parts/confirmation.tsx";
import { FieldError } from "../parts/fields.tsx";
import { countOf, formatCount } from "../texts/formats.ts";
import { colleagues, useColleagues } from "./colleagues.ts";
import { CountReview } from "./count-review.tsx";
import {
  type CountFilter,
  countFilter,
  counts,
  differences,
  discardCounts,
  sending,
  showCounts,
} from "./counting.ts";
import { current } from "./state.ts";

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
