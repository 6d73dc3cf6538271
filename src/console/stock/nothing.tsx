import { hrefOf } from "../page/router.ts";
import { clockTime } from "../texts/times.ts";
import { type CountFilter, countFilter, isCounting, showCounts } from "./counting.ts";
import { openPetDialog } from "./pet-dialog-state.ts";
import { query, reload, statusFilter } from "./state.ts";

// What the Stock view shows instead of rows, and what to do next.

export function NotLoaded({ message }: { readonly message: string }) {
  return (
    <div class="empty" role="alert">
      <h2>The stock could not be loaded</h2>
      <p>{message}</p>
      <button type="button" class="button primary" onClick={() => void reload()}>
        Try again
      </button>
    </div>
  );
}

/** The rows stay in view, because an old number is better than none if it is marked as old. */
export function Outdated({ since }: { readonly since: number }) {
  return (
    <div class="notice warning connection-notice" role="status">
      <span>
        Changes may be missing here: the stock could not be loaded again at {clockTime(since)}. The
        console tries again by itself.
      </span>
      <button type="button" class="button small" onClick={() => void reload()}>
        Try now
      </button>
    </div>
  );
}

export function NoPets() {
  return (
    <div class="empty">
      <h2>There are no pets yet</h2>
      <p>Add the first one here, or import a file with all of them.</p>
      <div class="row">
        <button type="button" class="button primary" onClick={() => openPetDialog(undefined)}>
          Add a pet
        </button>
        <a class="button" href={hrefOf("/import")}>
          Import a file
        </a>
      </div>
    </div>
  );
}

const nothingCounted: Readonly<Record<CountFilter, string | undefined>> = {
  all: undefined,
  counted: "Nothing is counted yet",
  uncounted: "Everything is counted",
  different: "There are no differences",
};

export function NoMatches() {
  const isSearched = query.value.trim() !== "" || statusFilter.value.size > 0;
  const title = isCounting.value && !isSearched ? nothingCounted[countFilter.value] : undefined;
  return (
    <div class="empty">
      <h2>{title ?? "Nothing matches"}</h2>
      {title === undefined && <p>No entry matches the search and the filters.</p>}
      <button
        type="button"
        class="button"
        onClick={() => {
          query.value = "";
          statusFilter.value = new Set();
          showCounts("all");
        }}
      >
        Show all entries
      </button>
    </div>
  );
}
