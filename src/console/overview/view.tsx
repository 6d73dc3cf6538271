import { useEffect } from "preact/hooks";
import { UsageChart } from "../charts/usage.tsx";
import { listen } from "../client/live.ts";
import { may } from "../client/session.ts";
import type { Service } from "../client/types.ts";
import { Card } from "../parts/card.tsx";
import { WhenLoaded } from "../parts/loaded.tsx";
import { usePolled } from "../parts/polled.ts";
import { AttentionList } from "./attention-list.tsx";
import { FirstSteps } from "./first-steps.tsx";
import { Health } from "./health.tsx";
import { LatestChanges } from "./latest-changes.tsx";
import { StockTiles } from "./stock-tiles.tsx";

const pollMs = 15_000;
/** After a change, the numbers are loaded again, but not more often than this. */
const reloadMsMin = 2_000;
const requestsTitle = "Requests in the last 24 hours";

/** What an operator looks at first. */
export default function OverviewView() {
  const source = usePolled<Service>("/service", pollMs);
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const reloadSoon = () => {
      timer ??= setTimeout(() => {
        timer = undefined;
        void source.reload();
      }, reloadMsMin);
    };
    const stop = listen({ rows: reloadSoon, reset: reloadSoon });
    return () => {
      stop();
      clearTimeout(timer);
    };
  }, []);
  return (
    <div class="stack overview">
      <h1 class="view-title">Overview</h1>
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
    </div>
  );
}
