import { noFilter } from "../activity/change-filter.ts";
import { useChangeList } from "../activity/change-list.ts";
import { ChangeTable } from "../activity/change-table.tsx";
import { may } from "../client/session.ts";
import { hrefOf } from "../page/router.ts";
import { Card } from "../parts/card.tsx";
import { WhenLoaded } from "../parts/loaded.tsx";

const rowsShown = 8;

/** The last changes, as they happen. */
export function LatestChanges() {
  const list = useChangeList(noFilter, rowsShown);
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
      <WhenLoaded source={list} what="the changes">
        {({ high }) =>
          rows.length > 0 ? (
            <ChangeTable caption="Latest changes" rows={rows} newAfter={high - 1} />
          ) : (
            may("clerk") && (
              <p class="muted">
                Nothing has changed yet. <a href={hrefOf("/import")}>Import a file</a> or{" "}
                <a href={hrefOf("/stock")}>add a pet</a> to start.
              </p>
            )
          )
        }
      </WhenLoaded>
    </Card>
  );
}
