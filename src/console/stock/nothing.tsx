import { may } from "../client/session.ts";
import { Button, LinkButton } from "../parts/button.tsx";
import { Empty, OldNotice } from "../parts/loaded.tsx";
import { clockTime } from "../texts/times.ts";
import { showAll, stockQuery } from "./address.ts";
import { type CountFilter, countFilter, isCounting, showCounts } from "./counting.ts";
import { openPetDialog, reload } from "./state.ts";

// What the Stock view shows instead of rows, and what to do next.

/** The rows stay in view, because an old number is better than none if it is marked as old. */
export function Outdated({ since }: { readonly since: number }) {
  return (
    <OldNotice retry={reload}>
      Changes may be missing here: the stock could not be loaded again at {clockTime(since)}. The
      console tries again by itself.
    </OldNotice>
  );
}

export function NoPets() {
  if (!may("clerk")) return <Empty title="There are no pets yet" />;
  return (
    <Empty title="There are no pets yet">
      <p>Add the first one here, or import a file with all of them.</p>
      <div class="row">
        <Button kind="primary" onClick={() => openPetDialog(undefined)}>
          Add a pet
        </Button>
        <LinkButton to="/import">Import a file</LinkButton>
      </div>
    </Empty>
  );
}

const nothingCounted: Readonly<Record<CountFilter, string | undefined>> = {
  all: undefined,
  counted: "Nothing is counted yet",
  uncounted: "Everything is counted",
  different: "There are no differences",
};

export function NoMatches() {
  const isSearched = /[?&](q|status|category|low)=/.test(stockQuery.value);
  const title = isCounting.value && !isSearched ? nothingCounted[countFilter.value] : undefined;
  return (
    <Empty title={title ?? "Nothing matches"}>
      {title === undefined && <p>No entry matches the search and the filters.</p>}
      <Button
        onClick={() => {
          showCounts("all");
          showAll();
        }}
      >
        Show all entries
      </Button>
    </Empty>
  );
}
