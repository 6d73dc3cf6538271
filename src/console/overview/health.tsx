import type { Service } from "../client/types.ts";
import { hrefOf } from "../page/router.ts";
import { Time } from "../parts/time.tsx";
import { formatCount } from "../texts/numbers.ts";

/** Facts about the service and what it does by itself. */
export function Health({ facts }: { readonly facts: Service }) {
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
      <dl class="facts">
        <dt>Version</dt>
        <dd>{version}</dd>
        <dt>Store</dt>
        <dd>
          {engine}, schema {schema}
        </dd>
        <dt>Started</dt>
        <dd>
          <Time at={startedAt} isRelative />
        </dd>
        <dt>Ledger</dt>
        <dd>
          {formatCount(ledger.seq)} {ledger.seq === 1 ? "change" : "changes"}
          {ledger.at !== null && (
            <>
              , last <Time at={ledger.at} isRelative />
            </>
          )}
        </dd>
        <dt>
          <a href={hrefOf("/webhooks")}>Webhooks</a>
        </dt>
        <dd>{webhookText(webhooks)}</dd>
        <dt>
          <a href={hrefOf("/backups")}>Backup</a>
        </dt>
        <dd>{backup ? <Time at={backup.lastAt} isRelative /> : "None yet"}</dd>
      </dl>
    </section>
  );
}

function webhookText({ active, paused, disabled, failing }: Service["webhooks"]): string {
  // Webhooks that fail are active, too. Each one is counted once.
  const working = active - failing;
  const parts = [
    ...(working > 0 ? [`${working} active`] : []),
    ...(failing > 0 ? [`${failing} failing`] : []),
    ...(paused > 0 ? [`${paused} paused`] : []),
    ...(disabled > 0 ? [`${disabled} disabled`] : []),
  ];
  return parts.length === 0 ? "None" : parts.join(", ");
}
