import { noFilter } from "../activity/change-filter.ts";
import { useChangeList } from "../activity/change-list.ts";
import { ChangeTable } from "../activity/change-table.tsx";
import { UsageChart } from "../charts/usage.tsx";
import { may } from "../client/session.ts";
import type { Attention } from "../client/types.ts";
import { hrefOf } from "../page/router.ts";
import { Card } from "../parts/card.tsx";
import { Icon } from "../parts/icon.tsx";
import { WhenLoaded } from "../parts/loaded.tsx";
import { service } from "../parts/service.ts";
import { capitalized } from "../texts/formats.ts";
import { withLocalTimes } from "../texts/times.ts";
import { FirstSteps } from "./first-steps.tsx";
import { Health } from "./health.tsx";
import { StockTiles } from "./stock-tiles.tsx";

const requestsTitle = "Requests in the last 24 hours";

/** What an operator looks at first. */
export default function OverviewView() {
  const source = service.value;
  return (
    <div class="stack overview">
      <h1 class="view-title">Overview</h1>
      {source && (
        <WhenLoaded source={source}>
          {(facts) => (
            <>
              <AttentionList items={facts.attention} />
              {may("owner") && <FirstSteps facts={facts} />}
              <StockTiles facts={facts} />
              <div class="overview-columns">
                <Card title={requestsTitle}>
                  <UsageChart
                    path="/usage?step=minute"
                    title={requestsTitle}
                    emptyText="No requests yet"
                  />
                </Card>
                <Health facts={facts} />
              </div>
              <LatestChanges />
            </>
          )}
        </WhenLoaded>
      )}
    </div>
  );
}

/** What somebody should look at, problems first. */
function AttentionList({ items }: { readonly items: readonly Attention[] }) {
  if (items.length === 0) {
    return (
      <p class="notice success row">
        <Icon name="check" />
        Nothing needs your attention.
      </p>
    );
  }
  return (
    <section aria-label="Needs attention">
      <ul class="stack attention">
        {items.map(({ severity, text, view }) => (
          <li key={text} class={`notice ${severity === "problem" ? "danger" : "warning"}`}>
            <Icon name="warning" />
            <span class="attention-text" title={text}>
              <span class="visually-hidden">
                {severity === "problem" ? "Problem" : "Warning"}:{" "}
              </span>
              {withLocalTimes(text)}
            </span>
            {view !== "overview" && <a href={hrefOf(`/${view}`)}>Open {capitalized(view)}</a>}
          </li>
        ))}
      </ul>
    </section>
  );
}

const rowsShown = 8;

/** The last changes, as they happen. */
function LatestChanges() {
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
