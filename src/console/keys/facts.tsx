import type { Key } from "../client/types.ts";
import { hrefOf } from "../page/router.ts";
import { Time } from "../parts/time.tsx";
import { limitsText, planTitle } from "./terms.ts";

export function KeyFacts({ entry }: { readonly entry: Key }) {
  const { id, kind, plan, limits, scopes, createdAt, expiresAt, revokedAt, lastUsedAt } = entry;
  return (
    <dl class="facts">
      <dt>Id</dt>
      <dd class="mono">{id}</dd>
      <dt>Plan</dt>
      <dd>
        {planTitle(plan)}
        <span class="muted">: {limitsText(limits)}</span>
      </dd>
      <dt>Scopes</dt>
      <dd>
        {kind === "operator" ? "Everything in the operator API" : <ScopeBadges scopes={scopes} />}
      </dd>
      <dt>Last use</dt>
      <dd>{lastUsedAt ? <Time at={lastUsedAt} isRelative /> : "Never used"}</dd>
      <dt>Created</dt>
      <dd>
        <Time at={createdAt} />
      </dd>
      {revokedAt ? (
        <>
          <dt>Revoked</dt>
          <dd>
            <Time at={revokedAt} />
          </dd>
        </>
      ) : (
        <>
          <dt>Expires</dt>
          <dd>{expiresAt ? <Time at={expiresAt} /> : "Never"}</dd>
        </>
      )}
      {kind === "operator" && (
        <>
          <dt>Actions</dt>
          <dd>
            <a href={hrefOf(`/audit?keyId=${id}`)}>What this operator did</a>
          </dd>
        </>
      )}
    </dl>
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
