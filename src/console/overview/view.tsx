import { UsageChart } from "../charts/usage.tsx";
import { may } from "../client/session.ts";
import { Card } from "../parts/card.tsx";
import { WhenLoaded } from "../parts/loaded.tsx";
import { service } from "../parts/service.ts";
import { AttentionList } from "./attention-list.tsx";
import { FirstSteps } from "./first-steps.tsx";
import { Health } from "./health.tsx";
import { LatestChanges } from "./latest-changes.tsx";
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
