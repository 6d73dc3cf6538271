import type { Key } from "../client/types.ts";
import { hrefOf } from "../page/router.ts";
import { Time } from "../parts/time.tsx";
import { LimitBar } from "./limit-bar.tsx";
import { StateBadge } from "./state-badge.tsx";
import { planTitle, scopeMeanings } from "./terms.ts";

export function KeyTable({ keys }: { readonly keys: readonly Key[] }) {
  return (
    <div class="table-wrap">
      <table class="table card-table key-table">
        <thead>
          <tr>
            <th scope="col">Name</th>
            <th scope="col">Plan</th>
            <th scope="col">Scopes</th>
            <th scope="col">State</th>
            <th scope="col">Last use</th>
            <th scope="col">This minute</th>
            <th scope="col">Today</th>
          </tr>
        </thead>
        <tbody>
          {keys.map((key) => (
            <KeyRow key={key.id} entry={key} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

function KeyRow({ entry }: { readonly entry: Key }) {
  const { id, name, kind, plan, scopes, state, lastUsedAt, bannedUntil, minute, day } = entry;
  const isUsable = state === "active" || state === "banned";
  return (
    <tr data-key={id}>
      <td class="key-name">
        <a href={hrefOf(`/keys/${id}`)}>
          <bdi>{name}</bdi>
        </a>
        <span class="muted small mono">{id}</span>
      </td>
      <td data-label="Plan">
        <span>
          {kind === "operator" ? <span class="badge accent">Operator</span> : planTitle(plan)}
        </span>
      </td>
      <td data-label="Scopes" class="small">
        <Scopes kind={kind} scopes={scopes} />
      </td>
      <td data-label="State">
        <span>
          <StateBadge state={state} />
          {isEnding(entry) && (
            <span class="small muted state-end">
              ends <Time at={entry.expiresAt!} isRelative />
            </span>
          )}
          {bannedUntil && (
            <span class="small muted state-end">
              until <Time at={bannedUntil} />
            </span>
          )}
        </span>
      </td>
      <td data-label="Last use" class="last-use">
        {lastUsedAt ? <Time at={lastUsedAt} isRelative /> : <span class="muted">never</span>}
      </td>
      <td data-label="This minute">
        {isUsable && <LimitBar label="Requests this minute" {...minute} />}
      </td>
      <td data-label="Today">{isUsable && <LimitBar label="Requests today" {...day} />}</td>
    </tr>
  );
}

/** True if the key expires within a month, so that somebody should replace it. */
function isEnding({ state, expiresAt }: Key): boolean {
  return state === "active" && expiresAt !== null && Date.parse(expiresAt) < Date.now() + monthMs;
}

const monthMs = 30 * 86_400_000;

/** What a key may do, short: reading and writing of one thing share a line. */
function Scopes({ kind, scopes }: Pick<Key, "kind" | "scopes">) {
  if (kind === "operator") return <span class="muted">everything in the console</span>;
  if (scopes.length === Object.keys(scopeMeanings).length) return <>all</>;
  const things = new Map<string, string[]>();
  for (const scope of scopes) {
    const [thing = scope, action = ""] = scope.split(":");
    things.set(thing, [...(things.get(thing) ?? []), action]);
  }
  return (
    <span class="scope-list">
      {[...things].map(([thing, actions]) => (
        <span key={thing}>
          {thing} <span class="muted">{actions.join(", ")}</span>
        </span>
      ))}
    </span>
  );
}
