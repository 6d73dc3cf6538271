import { useEffect, useMemo } from "preact/hooks";
import { noFilter } from "../activity/change-filter.ts";
import { ChangeList } from "../activity/change-list.ts";
import { ChangeTable } from "../activity/change-table.tsx";
import { hrefOf } from "../page/router.ts";

const rowsShown = 8;

/** The last changes, as they happen. */
export function LatestChanges() {
  const list = useMemo(() => new ChangeList(noFilter, rowsShown), []);
  useEffect(() => {
    void list.start();
    return () => list.stop();
  }, [list]);
  const state = list.state.value;
  const rows = list.rows.value.slice(0, rowsShown);
  return (
    <section class="card" aria-labelledby="latest-title">
      <div class="spread">
        <h2 class="card-title" id="latest-title">
          Latest changes
        </h2>
        <a class="small" href={hrefOf("/activity")}>
          All changes
        </a>
      </div>
      {state.kind === "loading" && <p class="loading">Loading the changes…</p>}
      {state.kind === "failed" && <p role="alert">{state.message}</p>}
      {rows.length > 0 && (
        <div class="table-wrap">
          <ChangeTable caption="Latest changes" rows={rows} newAfter={list.loadedUpTo.value} />
        </div>
      )}
      {state.kind === "ready" && rows.length === 0 && (
        <p class="muted">
          Nothing has changed yet. <a href={hrefOf("/import")}>Import a file</a> or{" "}
          <a href={hrefOf("/stock")}>add a pet</a> to start.
        </p>
      )}
    </section>
  );
}
