import { requestPage } from "../client/api.ts";
import type { AuditRow } from "../client/types.ts";
import { hrefOf } from "../page/router.ts";
import { useLoaded, WhenLoaded } from "../parts/loaded.tsx";
import { type Column, Table } from "../parts/table.tsx";
import { Time } from "../parts/time.tsx";
import { textOf } from "./actions.ts";
import { Details } from "./details.tsx";

interface Props {
  readonly rows: readonly AuditRow[];
  /** Names of keys and webhooks, by id. */
  readonly names?: ReadonlyMap<string, string>;
  /** False on the page of the target itself. */
  readonly hasTarget?: boolean;
}

const noNames: ReadonlyMap<string, string> = new Map();

export function AuditRows({ rows, names = noNames, hasTarget = true }: Props) {
  const columns: readonly Column<AuditRow>[] = [
    { title: "When", class: "nowrap", cell: ({ at }) => <Time at={at} /> },
    { title: "Who", cell: (row) => <Who row={row} /> },
    { title: "Action", class: "audit-action nowrap", cell: ({ action }) => textOf(action) },
    ...(hasTarget
      ? [{ title: "Target", cell: (row: AuditRow) => <Target row={row} names={names} /> }]
      : []),
    {
      title: "Details",
      class: "small",
      cell: (row) => <Details details={row.details} hidden={hiddenFields(row)} />,
    },
  ];
  return <Table rows={rows} keyOf={({ seq }) => seq} columns={columns} />;
}

function Who({ row }: { readonly row: AuditRow }) {
  if (row.keyId === null) return <span class="muted nowrap">Command line</span>;
  return (
    <a href={hrefOf(`/keys/${row.keyId}`)} title={row.keyId}>
      <bdi>{row.keyName ?? row.keyId}</bdi>
    </a>
  );
}

/** For a new or removed thing, empty fields are not worth a line, and the name is beside it already. */
function hiddenFields({ action, details }: AuditRow): readonly string[] {
  if (!/\.(?:created|removed)$/.test(action)) return [];
  return ["name", ...Object.keys(details).filter((name) => details[name] === null)];
}

interface TargetProps {
  readonly row: AuditRow;
  readonly names: ReadonlyMap<string, string>;
}

/** A link, if what was changed has a page. */
function Target({ row: { action, target, details }, names }: TargetProps) {
  // Who signs in is in the row already.
  if (target === null || action.startsWith("session.")) return null;
  const path = pathOf(action, target);
  const name = names.get(target) ?? (typeof details.name === "string" ? details.name : undefined);
  const text = name === undefined ? <span class="mono small">{target}</span> : <bdi>{name}</bdi>;
  if (path === undefined) return <span title={target}>{text}</span>;
  return (
    <a href={hrefOf(path)} title={target}>
      {text}
    </a>
  );
}

function pathOf(action: string, target: string): string | undefined {
  if (target.startsWith("key_")) return `/keys/${target}`;
  if (target.startsWith("wh_") && action !== "webhook.removed") return `/webhooks/${target}`;
  return action.startsWith("pet.") ? `/stock/${target}` : undefined;
}

const rowsMax = 10;

/** The last rows of the audit log about one thing. */
export function AuditOfTarget({ target }: { readonly target: string }) {
  const source = useLoaded(
    (signal) => requestPage<AuditRow>(`/audit?target=${target}&limit=${rowsMax}`, signal),
    [target],
  );
  return (
    <WhenLoaded source={source}>
      {({ items, next }) => (
        <>
          {items.length > 0 ? (
            <AuditRows rows={items} hasTarget={false} />
          ) : (
            <p class="muted">{next ? "Nothing lately." : "Nothing yet."}</p>
          )}
          {next && <a href={hrefOf(`/audit?target=${target}`)}>Show all</a>}
        </>
      )}
    </WhenLoaded>
  );
}
