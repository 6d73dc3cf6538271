import { useSignal } from "@preact/signals";
import { AuditOfTarget } from "../audit/of-target.tsx";
import type { Key } from "../client/types.ts";
import { hrefOf } from "../page/router.ts";
import { Button } from "../parts/button.tsx";
import { Card, Facts } from "../parts/card.tsx";
import { Detail } from "../parts/detail.tsx";
import { Time } from "../parts/time.tsx";
import { ViewHead } from "../parts/view-head.tsx";
import { BanNotice } from "./ban-notice.tsx";
import { EditKey, RevokeKey, RotateKey } from "./dialogs.tsx";
import { LimitBar, StateBadge } from "./key-table.tsx";
import { RequestCards } from "./requests-card.tsx";
import { SecretTimeline } from "./secret-timeline.tsx";
import { limitsText, planTitle, roleChoices } from "./terms.ts";
import { UsageCard } from "./usage-card.tsx";

/** Everything about one key. */
export function KeyDetail({ id }: { readonly id: string }) {
  return (
    <Detail<Key> of="keys" id={id}>
      {(key, reload) => <LoadedKey entry={key} reload={reload} />}
    </Detail>
  );
}

interface Props {
  readonly entry: Key;
  readonly reload: () => void;
}

type OpenDialog = "edit" | "rotate" | "revoke" | undefined;

function LoadedKey({ entry, reload }: Props) {
  const open = useSignal<OpenDialog>(undefined);
  const close = () => {
    open.value = undefined;
    reload();
  };
  const { id, name, state, minute, day, revokedAt } = entry;
  // Any change gives the list of audit rows a new key, so that it is loaded again.
  const version = JSON.stringify({ ...entry, minute: 0, day: 0, lastUsedAt: 0 });
  return (
    <>
      <ViewHead
        title={name}
        badges={
          <>
            <StateBadge state={state} />
            {entry.kind === "operator" && <span class="badge accent">Operator</span>}
          </>
        }
      >
        {revokedAt === null && (
          <div class="row">
            <Button onClick={() => (open.value = "edit")}>Change…</Button>
            <Button onClick={() => (open.value = "rotate")}>Rotate…</Button>
            <Button onClick={() => (open.value = "revoke")}>Revoke…</Button>
          </div>
        )}
      </ViewHead>
      {entry.bannedUntil && <BanNotice entry={entry} until={entry.bannedUntil} lifted={reload} />}
      <div class="sections">
        <Card title="Details">
          <KeyFacts entry={entry} />
        </Card>
        {revokedAt === null && (
          <Card title="Limits">
            <div class="stack">
              <div>
                <p class="label">This minute</p>
                <LimitBar label="Requests this minute" {...minute} />
              </div>
              <div>
                <p class="label">Today, in UTC</p>
                <LimitBar label="Requests today" {...day} />
              </div>
            </div>
            <h2 class="card-title secrets-title">Secrets</h2>
            <SecretTimeline secrets={entry.secrets} />
          </Card>
        )}
        <UsageCard id={id} />
        {entry.kind === "api" && <RequestCards keyId={id} />}
        <Card title="Changes to this key" class="wide-section">
          <AuditOfTarget key={version} target={id} />
        </Card>
      </div>
      {open.value === "edit" && <EditKey entry={entry} close={close} />}
      {open.value === "rotate" && <RotateKey entry={entry} close={close} />}
      {open.value === "revoke" && <RevokeKey entry={entry} close={close} />}
    </>
  );
}

function KeyFacts({ entry }: { readonly entry: Key }) {
  const { id, kind, role, plan, limits, scopes, createdAt, expiresAt, revokedAt, lastUsedAt } =
    entry;
  const isOperator = kind === "operator";
  const ownRole = roleChoices.find(([name]) => name === role);
  const planText = (
    <>
      {planTitle(plan)}
      <span class="muted">: {limitsText(limits)}</span>
    </>
  );
  return (
    <Facts
      facts={[
        ["Id", <span class="mono">{id}</span>],
        ["Plan", planText],
        isOperator
          ? ["Role", ownRole?.slice(1).join(": ")]
          : ["Scopes", <ScopeBadges scopes={scopes} />],
        ["Last use", lastUsedAt ? <Time at={lastUsedAt} isRelative /> : "Never used"],
        ["Created", <Time at={createdAt} />],
        revokedAt
          ? ["Revoked", <Time at={revokedAt} />]
          : ["Expires", expiresAt ? <Time at={expiresAt} /> : "Never"],
        isOperator
          ? ["Actions", <a href={hrefOf(`/audit?keyId=${id}`)}>What this operator did</a>]
          : undefined,
      ]}
    />
  );
}

function ScopeBadges({ scopes }: { readonly scopes: readonly string[] }) {
  return (
    <span class="row">
      {scopes.map((scope) => (
        <span key={scope} class="badge mono">
          {scope}
        </span>
      ))}
    </span>
  );
}
