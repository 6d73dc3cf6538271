import { useSignal } from "@preact/signals";
import { isUsable } from "../../domain/operations/attention.ts";
import { noFilter } from "../activity/change-filter.ts";
import { useChangeList } from "../activity/change-list.ts";
import { ChangeTable } from "../activity/changes.tsx";
import { Sparkline } from "../charts/sparkline.tsx";
import { UsageChart } from "../charts/usage.tsx";
import { request } from "../client/api.ts";
import { isOwnKey, may } from "../client/session.ts";
import { type Attention, type Key, petStatusValues, type Service } from "../client/types.ts";
import { hrefOf } from "../page/router.ts";
import { readStored, store } from "../page/storage.ts";
import { Button } from "../parts/button.tsx";
import { Card, Facts } from "../parts/card.tsx";
import { Icon } from "../parts/icon.tsx";
import { useLoaded, WhenLoaded } from "../parts/loaded.tsx";
import { service } from "../parts/service.ts";
import { StatusBadge } from "../parts/status.tsx";
import { Time } from "../parts/time.tsx";
import { capitalized, countOf, formatCount } from "../texts/formats.ts";
import { withLocalTimes } from "../texts/times.ts";

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

/** Facts about the service and what it does by itself. */
function Health({ facts }: { readonly facts: Service }) {
  const { isReady, version, engine, schema, startedAt, ledger, webhooks, backup } = facts;
  return (
    <section class="card" aria-labelledby="health-title">
      <h2 class="card-title spread" id="health-title">
        Service
        <span class={`badge ${isReady ? "success" : "danger"}`}>
          <span class="dot" />
          {isReady ? "Ready" : "Not ready"}
        </span>
      </h2>
      <Facts
        facts={[
          ["Version", version],
          ["Store", `${engine}, schema ${schema}`],
          ["Started", <Time at={startedAt} isRelative />],
          ["Ledger", <Ledger {...ledger} />],
          [<a href={hrefOf("/webhooks")}>Webhooks</a>, webhookText(webhooks)],
          [
            <a href={hrefOf("/backups")}>Backup</a>,
            backup ? <Time at={backup.lastAt} isRelative /> : "None yet",
          ],
        ]}
      />
    </section>
  );
}

function Ledger({ seq, at }: Service["ledger"]) {
  return (
    <>
      {countOf(seq, "change")}
      {at !== null && (
        <>
          , last <Time at={at} isRelative />
        </>
      )}
    </>
  );
}

function webhookText({ active, paused, disabled, failing }: Service["webhooks"]): string {
  // Webhooks that fail are active, too. Each one is counted once.
  const parts = Object.entries({ active: active - failing, failing, paused, disabled })
    .filter(([, count]) => count > 0)
    .map(([state, count]) => `${count} ${state}`);
  return parts.join(", ") || "None";
}

const storageName = "petstore-first-steps";

/** What the owner of a new store does first, until all of it is done or the person hides it. */
function FirstSteps({ facts }: { readonly facts: Service }) {
  const isHidden = useSignal(readStored(storageName) !== undefined);
  const source = useLoaded(async (signal) =>
    isHidden.value ? undefined : request<readonly Key[]>("/keys", { signal }),
  );
  const state = source.state.value;
  if (isHidden.value || state.kind !== "ready" || !state.value) return null;
  const steps = stepsOf(facts, state.value);
  const done = steps.filter(([isDone]) => isDone).length;
  if (done === steps.length) return null;
  const hide = () => {
    isHidden.value = true;
    store(storageName, "hidden");
  };
  return (
    <Card title={`First steps: ${done} of ${steps.length} done`} class="stack">
      {steps.map(([isDone, to, title, text]) => (
        <p key={to} class="row">
          <Icon name={isDone ? "check" : "plus"} />
          {isDone ? <s>{title}</s> : <a href={hrefOf(to)}>{title}</a>}
          <span class="small muted">{isDone ? "Done" : text}</span>
        </p>
      ))}
      <Button onClick={hide}>Hide</Button>
    </Card>
  );
}

type Step = readonly [isDone: boolean, to: string, title: string, text: string];

function stepsOf({ stock, backup }: Service, all: readonly Key[]): readonly Step[] {
  const keys = all.filter(isUsable);
  const hasPets = Object.values(stock).some(({ entries }) => entries > 0);
  const hasClient = keys.some(({ kind }) => kind === "api");
  const hasColleague = keys.some(({ id, kind }) => kind === "operator" && !isOwnKey(id));
  return [
    [hasPets, "/import", "Import your pets", "From a file, or add them one by one in Stock."],
    [hasClient, "/keys?new=web-shop", "Create a key for the web shop", "It reads and books stock."],
    [backup !== null, "/backups", "Make a backup", "A copy of the whole store."],
    [hasColleague, "/keys?new=colleague", "Invite a colleague", "Every change then has a name."],
  ];
}

/** The stock by status, and how much has changed lately. */
function StockTiles({ facts }: { readonly facts: Service }) {
  const { stock, lowEntries, changesPerMinute } = facts;
  const changes = changesPerMinute.reduce((sum, count) => sum + count, 0);
  const lastMinute = changesPerMinute.at(-1) ?? 0;
  const total = petStatusValues.reduce((sum, status) => sum + stock[status].quantity, 0);
  return (
    <section class="grid" aria-label="Stock">
      {petStatusValues.map((status) => {
        const { entries, quantity } = stock[status];
        return (
          <div class="card tile" key={status}>
            <h2 class="card-title">
              <StatusBadge status={status} />
            </h2>
            <p class="stat">{formatCount(quantity)}</p>
            <p class="small muted">in {countOf(entries, "entry", "entries")}</p>
            <progress
              class="meter"
              aria-label={`${capitalized(status)}: part of the whole stock`}
              max={Math.max(1, total)}
              value={quantity}
            />
          </div>
        );
      })}
      <div class="card tile">
        <h2 class="card-title">Low stock</h2>
        <p class="stat">{formatCount(lowEntries)}</p>
        <p class="small muted">at or below threshold</p>
        <a class="small" href={hrefOf("/stock?low")}>
          Show in Stock
        </a>
      </div>
      <div class="card tile">
        <h2 class="card-title">Changes in the last hour</h2>
        <p class="stat">{formatCount(changes)}</p>
        <p class="small muted">{formatCount(lastMinute)} this minute</p>
        <Sparkline
          title={`Changes per minute in the last hour, at most ${Math.max(0, ...changesPerMinute)}`}
          values={changesPerMinute}
        />
      </div>
    </section>
  );
}
