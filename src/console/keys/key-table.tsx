import { endsSoon, isNearLimit, isUsable } from "../../domain/operations/attention.ts";
import type { Key, KeyUse } from "../client/types.ts";
import { hrefOf } from "../page/router.ts";
import type { Column } from "../parts/table.tsx";
import { Time } from "../parts/time.tsx";
import { capitalized, formatCount } from "../texts/formats.ts";
import { planTitle, scopeMeanings } from "./terms.ts";

export const keyColumns: readonly Column<Key>[] = [
  {
    title: "Name",
    class: "row-name key-name",
    isMain: true,
    cell: ({ id, name }) => (
      <>
        <a href={hrefOf(`/keys/${id}`)}>
          <bdi>{name}</bdi>
        </a>
        <span class="muted small mono">{id}</span>
      </>
    ),
  },
  {
    title: "Plan",
    cell: ({ plan }) => (
      <span>{plan === null ? <span class="badge accent">Operator</span> : planTitle(plan)}</span>
    ),
  },
  { title: "Scopes", class: "small", cell: (key) => <Scopes {...key} /> },
  { title: "State", cell: (key) => <State entry={key} /> },
  {
    title: "Last use",
    class: "nowrap",
    cell: ({ lastUsedAt }) =>
      lastUsedAt ? <Time at={lastUsedAt} isRelative /> : <span class="muted">never</span>,
  },
  {
    title: "This minute",
    cell: (key) => isUsable(key) && <LimitBar label="Requests this minute" {...key.minute} />,
  },
  {
    title: "Today",
    cell: (key) => isUsable(key) && <LimitBar label="Requests today" {...key.day} />,
  },
];

function State({ entry }: { readonly entry: Key }) {
  const { state, expiresAt, bannedUntil } = entry;
  return (
    <div>
      <StateBadge state={state} />
      {isUsable(entry) && expiresAt && endsSoon(Date.parse(expiresAt), Date.now()) && (
        <div class="small muted">
          ends <Time at={expiresAt} isRelative />
        </div>
      )}
      {bannedUntil && (
        <div class="small muted">
          until <Time at={bannedUntil} />
        </div>
      )}
    </div>
  );
}

const tones: Readonly<Record<Key["state"], string>> = {
  active: "success",
  banned: "danger",
  expired: "warning",
  revoked: "",
};

export function StateBadge({ state }: Pick<Key, "state">) {
  return <span class={`badge ${tones[state]}`}>{capitalized(state)}</span>;
}

/** What a key may do, short: reading and writing of one thing share a line. */
function Scopes({ kind, scopes, role }: Pick<Key, "kind" | "scopes" | "role">) {
  if (kind === "operator") return <>{capitalized(role ?? "unknown role")}</>;
  if (scopes.length === Object.keys(scopeMeanings).length) return <>all</>;
  const parts = scopes.map((scope) => scope.split(":"));
  const things = Map.groupBy(parts, ([thing]) => thing);
  return (
    <span class="row scope-list">
      {[...things].map(([thing, same]) => (
        <span key={thing} class="nowrap">
          {thing} <span class="muted">{same.map(([, action]) => action).join(", ")}</span>
        </span>
      ))}
    </span>
  );
}

/** How much of a limit is used. The color changes near the limit. */
export function LimitBar({ label, used, limit }: KeyUse & { readonly label: string }) {
  const tone = used >= limit ? "danger" : isNearLimit(used, limit) ? "warning" : "";
  return (
    <div class="limit-bar" data-tone={tone}>
      <p class="limit-text small">
        {formatCount(used)} <span class="muted">of {formatCount(limit)}</span>
      </p>
      <progress
        class={`meter ${tone}`}
        aria-label={label}
        value={Math.min(used, limit)}
        max={limit}
      />
    </div>
  );
}
