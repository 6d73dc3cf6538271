import { useSignal } from "@preact/signals";
import { AuditOfTarget } from "../audit/of-target.tsx";
import { request } from "../client/api.ts";
import type { Key } from "../client/types.ts";
import { hrefOf } from "../page/router.ts";
import { WhenLoaded } from "../parts/loaded.tsx";
import { usePolled } from "../parts/polled.ts";
import { BanNotice } from "./ban-notice.tsx";
import { EditKey } from "./edit-key.tsx";
import { KeyFacts } from "./facts.tsx";
import { LimitBar } from "./limit-bar.tsx";
import { RevokeKey } from "./revoke-key.tsx";
import { RotateKey } from "./rotate-key.tsx";
import { SecretTimeline } from "./secret-timeline.tsx";
import { StateBadge } from "./state-badge.tsx";
import { UsageCard } from "./usage-card.tsx";

/** Everything about one key. */
export function KeyDetail({ id }: { readonly id: string }) {
  const source = usePolled(
    (signal) => request<Key>(`/keys/${encodeURIComponent(id)}`, { signal }),
    [id],
  );
  return (
    <>
      <a class="back-link" href={hrefOf("/keys")}>
        ← All keys
      </a>
      <WhenLoaded source={source}>
        {(key) => <LoadedKey entry={key} reload={() => void source.reload()} />}
      </WhenLoaded>
    </>
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
  const version = JSON.stringify([
    name,
    entry.limits,
    entry.scopes,
    entry.expiresAt,
    entry.secrets,
  ]);
  return (
    <>
      <div class="spread view-head">
        <div class="row">
          <h1 class="view-title">
            <bdi>{name}</bdi>
          </h1>
          <StateBadge state={state} />
          {entry.kind === "operator" && <span class="badge accent">Operator</span>}
        </div>
        {revokedAt === null && (
          <div class="row">
            <button type="button" class="button" onClick={() => (open.value = "edit")}>
              Change…
            </button>
            <button type="button" class="button" onClick={() => (open.value = "rotate")}>
              Rotate…
            </button>
            <button type="button" class="button" onClick={() => (open.value = "revoke")}>
              Revoke…
            </button>
          </div>
        )}
      </div>
      {entry.bannedUntil && <BanNotice entry={entry} until={entry.bannedUntil} lifted={reload} />}
      <div class="sections">
        <section class="card">
          <h2 class="card-title">Details</h2>
          <KeyFacts entry={entry} />
        </section>
        {revokedAt === null && (
          <section class="card">
            <h2 class="card-title">Limits</h2>
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
          </section>
        )}
        <UsageCard id={id} />
        <section class="card wide-section">
          <h2 class="card-title">Changes to this key</h2>
          <AuditOfTarget key={version + state} target={id} />
        </section>
      </div>
      {open.value === "edit" && <EditKey entry={entry} close={close} />}
      {open.value === "rotate" && <RotateKey entry={entry} close={close} />}
      {open.value === "revoke" && <RevokeKey entry={entry} close={close} />}
    </>
  );
}
