import { Time } from "../parts/time.tsx";
import { hrefOf } from "../router.ts";
import { textOf } from "./actions.ts";
import { Details } from "./details.tsx";
import type { AuditRow } from "./types.ts";

interface Props {
  readonly rows: readonly AuditRow[];
  /** False on the page of the target itself. */
  readonly hasTarget?: boolean;
}

export function AuditRows({ rows, hasTarget = true }: Props) {
  return (
    <div class="table-wrap">
      <table class="table card-table audit-table">
        <thead>
          <tr>
            <th scope="col">When</th>
            <th scope="col">Who</th>
            <th scope="col">What</th>
            {hasTarget && <th scope="col">Which</th>}
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
              <td data-label="What">{textOf(row.action)}</td>
              {hasTarget && (
                <td data-label="Which">
                  <Target row={row} />
                </td>
              )}
              <td data-label="Details" class="small">
                <Details details={row.details} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Who({ row }: { readonly row: AuditRow }) {
  if (row.keyId === null) return <span class="muted">Command line</span>;
  return (
    <a href={hrefOf(`/keys/${row.keyId}`)} title={row.keyId}>
      <bdi>{row.keyName ?? row.keyId}</bdi>
    </a>
  );
}

/** A link, if what was changed has a page. */
function Target({ row: { action, target } }: { readonly row: AuditRow }) {
  if (target === null) return null;
  const isThere = action !== "webhook.removed";
  if (target.startsWith("key_")) return <PageLink path={`/keys/${target}`} text={target} />;
  if (target.startsWith("wh_") && isThere) {
    return <PageLink path={`/webhooks/${target}`} text={target} />;
  }
  if (action.startsWith("pet.")) return <PageLink path={`/stock/${target}`} text={target} />;
  return <bdi class="mono small">{target}</bdi>;
}

function PageLink({ path, text }: { readonly path: string; readonly text: string }) {
  return (
    <a class="mono small" href={hrefOf(path)}>
      {text}
    </a>
  );
}
