import { noFilter } from "../activity/change-filter.ts";
import { useChangeList } from "../activity/change-list.ts";
import { ChangeTable } from "../activity/change-table.tsx";
import { may } from "../client/session.ts";
import { hrefOf } from "../page/router.ts";
import { Card } from "../parts/card.tsx";

const rowsShown = 8;

/** The last changes, as they happen. */
export function LatestChanges() {
  const list = useChangeList(noFilter, rowsShown);
  const state = list.state.value;
  const rows = list.rows.value.slice(0, rowsShown);
  return (
    <Card
      title="Latest changes"
      aside={
        <a class="small" href={hrefOf("/activity")}>
          All changes
        </a>
      }
    >
      {state.kind === "loading" && <p class="loading">Loading the changes…</p>}
      {state.kind === "failed" && <p role="alert">{state.message}</p>}
      {rows.length > 0 && (
        <ChangeTable caption="Latest changes" rows={rows} newAfter={list.range.value.high - 1} />
      )}
      {state.kind === "ready" && rows.length === 0 && may("clerk") && (
        <p class="muted">
          Nothing has changed yet. <a href={hrefOf("/import")}>Import a file</a> or{" "}
          <a href={hrefOf("/stock")}>add a pet</a> to start.
        </p>
      )}
    </Card>
  );
}
