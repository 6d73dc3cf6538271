import type { AuditRow } from "../client/types.ts";
import { hrefOf } from "../page/router.ts";
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
  return (
    <div class="table-wrap">
      <table class="table card-table audit-table">
        <thead>
          <tr>
            <th scope="col">When</th>
            <th scope="col">Who</th>
            <th scope="col">Action</th>
            {hasTarget && <th scope="col">Target</th>}
            <th scope="col">Details</th>
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={row.seq} data-seq={row.seq}>
              <td data-label="When" class="audit-time">
                <Time at={row.at} />
              </td>
              <td data-label="Who">
                <Who row={row} />
              </td>
              <td data-label="Action" class="audit-action">
                {textOf(row.action)}
              </td>
              {hasTarget && (
                <td data-label="Target">
                  <Target row={row} names={names} />
                </td>
              )}
              <td data-label="Details" class="small">
                <Details details={row.details} hidden={hiddenFields(row)} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Who({ row }: { readonly row: AuditRow }) {
  if (row.keyId === null) return <span class="muted audit-command">Command line</span>;
  return (
    <a href={hrefOf(`/keys/${row.keyId}`)} title={row.keyId}>
      <bdi>{row.keyName ?? row.keyId}</bdi>
    </a>
  );
}

/** What a new thing does not have is not worth a line, and its name is beside it. */
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
