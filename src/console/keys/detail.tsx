import { useSignal } from "@preact/signals";
import { minuteMs } from "../../domain/values/times.ts";
import { AuditOfTarget } from "../audit/rows.tsx";
import { UsageChart } from "../charts/usage.tsx";
import { request } from "../client/api.ts";
import type { Key, KeySecret, UsageStep } from "../client/types.ts";
import { showSuccess } from "../page/messages.ts";
import { hrefOf } from "../page/router.ts";
import { Button } from "../parts/button.tsx";
import { Card, Facts } from "../parts/card.tsx";
import { ButtonGroup, choicesOf, keptIn } from "../parts/choices.tsx";
import { FieldError, useSubmission } from "../parts/fields.tsx";
import { Time, useNow } from "../parts/time.tsx";
import { ViewHead } from "../parts/view.tsx";
import { formatCountdown } from "../texts/formats.ts";
import { EditKey, RevokeKey, RotateKey } from "./dialogs.tsx";
import { LimitBar, StateBadge } from "./key-table.tsx";
import { RequestCards } from "./requests-card.tsx";
import { limitsText, planTitle, roleChoices } from "./terms.ts";

interface Props {
  readonly entry: Key;
  readonly reload: () => void;
}

type OpenDialog = "edit" | "rotate" | "revoke" | undefined;

/** Everything about one key. */
export function KeyDetail({ entry, reload }: Props) {
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
      {entry.bannedUntil && <BanNotice entry={entry} reload={reload} />}
      <div class="grid sections">
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

/** Says that a key is banned, for how long, and lifts the ban. */
function BanNotice({ entry, reload }: Props) {
  const until = entry.bannedUntil!;
  const now = useNow();
  const { isBusy, error, run } = useSubmission();
  const lift = () =>
    run(async () => {
      await request(`/keys/${entry.id}/unban`, { method: "POST" });
      showSuccess(`Lifted the ban of ${entry.name}`);
      reload();
    });
  return (
    <section class="notice danger spread" aria-label="Ban">
      <div>
        <p>
          <strong>This key is banned</strong> until <Time at={until} />. It ends in{" "}
          <strong>{formatCountdown(Date.parse(until) - now.value)}</strong>.
        </p>
        <p class="small">
          It sent many requests after its limit was used up. Every request is refused until then.
        </p>
        <FieldError>{error.value}</FieldError>
      </div>
      <Button isDisabled={isBusy.value} onClick={() => lift()}>
        {isBusy.value ? "Lifting…" : "Lift the ban"}
      </Button>
    </section>
  );
}

const spans: Readonly<Record<UsageStep, string>> = { minute: "24 hours", day: "13 months" };

/** The requests of a key, accepted and over a limit, in the last 24 hours or 13 months. */
function UsageCard({ id }: { readonly id: string }) {
  const step = useSignal<UsageStep>("minute");
  const text = spans[step.value];
  return (
    <Card
      title="Requests"
      class="wide-section"
      aside={<ButtonGroup label="Time span" choices={choicesOf(spans)} {...keptIn(step)} />}
    >
      <UsageChart
        path={`/keys/${id}/usage?step=${step.value}`}
        title={`Requests in the last ${text}`}
        emptyText={`No requests in the last ${text}`}
      />
    </Card>
  );
}

const width = 100;
const barHeight = 6;
const rowHeight = 10;

/** The secrets of a key on a time axis: during a rotation, the old and the new one overlap. */
function SecretTimeline({ secrets }: { readonly secrets: readonly KeySecret[] }) {
  const now = useNow(minuteMs).value;
  const ordered = [...secrets].sort((a, b) => Date.parse(b.createdAt) - Date.parse(a.createdAt));
  const hasEnd = ordered.some(({ expiresAt }) => expiresAt !== null);
  if (ordered.length === 0) return <p class="muted">No secret works any more.</p>;
  return (
    <div class="stack">
      {hasEnd && <Bars secrets={ordered} now={now} />}
      <ul class="stack secret-list">
        {ordered.map(({ createdAt, expiresAt }, index) => (
          <li key={createdAt} data-place={index + 1}>
            <span class="dot" />
            <span>
              {ordered.length === 1 ? "Secret" : index === 0 ? "New secret" : "Old secret"}{" "}
              <span class="muted">
                from <Time at={createdAt} />
                {expiresAt ? (
                  <>
                    {" "}
                    until <Time at={expiresAt} /> (<Time at={expiresAt} isRelative />)
                  </>
                ) : (
                  ", with no end"
                )}
              </span>
            </span>
          </li>
        ))}
      </ul>
    </div>
  );
}

/**
 * From some time ago until after the first end. Bars that go on are cut at the edges. The current time
 * is always at a quarter, where the style sheet puts its label.
 */
function Bars({ secrets, now }: { readonly secrets: readonly KeySecret[]; readonly now: number }) {
  const ends = secrets.flatMap(({ expiresAt }) => (expiresAt ? [Date.parse(expiresAt)] : []));
  const ahead = Math.max(minuteMs, Math.min(...ends) - now);
  const from = now - ahead / 2;
  const until = now + ahead * 1.5;
  const x = (at: number) => Math.min(1, Math.max(0, (at - from) / (until - from))) * width;
  return (
    <div>
      <svg
        class="secret-bars"
        viewBox={`0 0 ${width} ${secrets.length * rowHeight}`}
        preserveAspectRatio="none"
        aria-hidden="true"
      >
        {secrets.map(({ createdAt, expiresAt }, row) => {
          const start = x(Date.parse(createdAt));
          const end = expiresAt ? x(Date.parse(expiresAt)) : width;
          return (
            <rect
              key={createdAt}
              data-place={row + 1}
              x={start}
              y={row * rowHeight + (rowHeight - barHeight) / 2}
              width={Math.max(0.5, end - start)}
              height={barHeight}
            />
          );
        })}
        <line class="secret-now" x1={x(now)} x2={x(now)} y1="0" y2={secrets.length * rowHeight} />
      </svg>
      <p class="secret-axis" aria-hidden="true">
        now
      </p>
    </div>
  );
}
