import type { Service } from "../client/types.ts";
import { hrefOf } from "../page/router.ts";
import { Facts } from "../parts/card.tsx";
import { Time } from "../parts/time.tsx";
import { countOf } from "../texts/formats.ts";

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
