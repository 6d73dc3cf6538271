import type { Key } from "../client/types.ts";
import { hrefOf } from "../page/router.ts";
import { Facts } from "../parts/card.tsx";
import { Time } from "../parts/time.tsx";
import { limitsText, planTitle } from "./terms.ts";

export function KeyFacts({ entry }: { readonly entry: Key }) {
  const { id, kind, plan, limits, scopes, createdAt, expiresAt, revokedAt, lastUsedAt } = entry;
  const isOperator = kind === "operator";
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
        ["Scopes", isOperator ? "Everything in the operator API" : <ScopeBadges scopes={scopes} />],
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
