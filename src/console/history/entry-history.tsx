import { useComputed } from "@preact/signals";
import { noFilter } from "../activity/change-filter.ts";
import { useChangeList } from "../activity/change-list.ts";
import { Changes } from "../activity/changes.tsx";
import { StepChart } from "../charts/steps.tsx";
import { findPetName } from "../client/pet-names.ts";
import type { LedgerRow } from "../client/types.ts";
import { LinkButton } from "../parts/button.tsx";
import { whoOf } from "../parts/origins.ts";
import { StatusBadge } from "../parts/status.tsx";
import { formatCount } from "../texts/formats.ts";

const rowsPerPage = 200;

/** The changes of one pet as a chart and as a list. */
export function EntryHistory({ petId }: { readonly petId: string }) {
  const list = useChangeList({ ...noFilter, petId }, rowsPerPage);
  const name = useComputed(() => findPetName(petId));
  const rows = list.rows.value;
  return (
    <>
      <div class="spread">
        <div class="row">
          <h2 class="entry-title">
            <bdi>{name.value ?? "Pet"}</bdi>{" "}
            <span class="small muted">
              id <span class="mono">{petId}</span>
            </span>
          </h2>
          <Current latest={rows[0]} />
        </div>
        {rows[0]?.after && <LinkButton to={`/stock/${petId}`}>Open in Stock</LinkButton>}
      </div>
      {rows.length > 0 && (
        <section class="card" aria-label="Quantity over time">
          <StepChart
            title={`Quantity of ${name.value ?? petId}`}
            points={pointsOf(rows)}
            until={Math.max(Date.now(), Date.parse(rows[0]!.at))}
          />
        </section>
      )}
      <Changes list={list} caption="Changes of this pet, newest first" isOnePet />
    </>
  );
}

function Current({ latest }: { readonly latest: LedgerRow | undefined }) {
  if (!latest) return null;
  const { after } = latest;
  if (!after) return <span class="badge danger">Removed</span>;
  return (
    <span class="row current-stock">
      <span class="muted">In stock</span> <strong>{formatCount(after.quantity)}</strong>
      <StatusBadge status={after.status} />
    </span>
  );
}

function pointsOf(newestFirst: readonly LedgerRow[]) {
  return newestFirst.toReversed().map((row) => ({
    at: Date.parse(row.at),
    value: row.after?.quantity ?? null,
    note: [whoOf(row), row.reason].filter((text) => text !== null).join(": "),
  }));
}
