import type { ViewProps } from "../parts/view.ts";
import { readFilter } from "./change-filter.ts";
import { useChangeList } from "./change-list.ts";
import { Changes } from "./changes.tsx";
import { FilterBar } from "./filter-bar.tsx";
import { HoldButton } from "./hold-button.tsx";

const rowsPerPage = 50;

/** The ledger as it happens. The query of the address is the filter. */
export default function ActivityView({ query }: ViewProps) {
  const list = useChangeList(readFilter(query), rowsPerPage);
  return (
    <div class="stack">
      <div class="spread">
        <h1 class="view-title">Activity</h1>
        <HoldButton list={list} />
      </div>
      <FilterBar filter={list.filter} />
      <Changes list={list} caption="Changes, newest first" />
    </div>
  );
}
