import { useComputed, useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { isPetId, noFilter } from "../activity/change-filter.ts";
import { useChangeList } from "../activity/change-list.ts";
import { Changes } from "../activity/changes.tsx";
import { StepChart } from "../charts/steps.tsx";
import { findPetName } from "../client/pet-names.ts";
import type { LedgerRow } from "../client/types.ts";
import { hrefOf, navigate } from "../page/router.ts";
import { LinkButton } from "../parts/button.tsx";
import { SearchField } from "../parts/fields.tsx";
import { Empty } from "../parts/loaded.tsx";
import { whoOf } from "../parts/origins.ts";
import { useScans } from "../parts/scanner.ts";
import { StatusBadge } from "../parts/status.tsx";
import type { ViewProps } from "../parts/view.tsx";
import { findRows } from "../stock/find-rows.ts";
import { openScanned } from "../stock/scanned.ts";
import { loadState, loadStock, table } from "../stock/state.ts";
import { formatCount } from "../texts/formats.ts";
import { MomentView } from "./moment.tsx";

/**
 * /history lets the person choose a pet, /history/ID shows one, and /history/moment the whole
 * inventory at a moment.
 */
export default function HistoryView({ rest, query }: ViewProps) {
  useScans((code) => openScanned(code, "/history"));
  const isMoment = rest === "moment";
  return (
    <div class="stack history">
      <h1 class="view-title">History</h1>
      <nav class="tabs" aria-label="History">
        <a class="tab" href={hrefOf("/history")} aria-current={isMoment ? undefined : "page"}>
          One pet
        </a>
        <a
          class="tab"
          href={hrefOf("/history/moment")}
          aria-current={isMoment ? "page" : undefined}
        >
          Whole inventory
        </a>
      </nav>
      {isMoment ? (
        <MomentView at={query.get("at") ?? ""} />
      ) : isPetId(rest) ? (
        <EntryHistory key={rest} petId={rest} />
      ) : (
        <ChoosePet />
      )}
    </div>
  );
}

/** Finds a pet by its id, its barcode or a part of its name. */
function ChoosePet() {
  const text = useSignal("");
  useEffect(() => {
    void loadStock();
  }, []);
  const rows = findRows(text.value);
  const typedId = isPetId(text.value.trim()) ? text.value.trim() : undefined;
  const open = (event: Event) => {
    event.preventDefault();
    const first =
      table.value.findScanned(text.value) ?? (typedId === undefined ? rows[0] : undefined);
    const petId = first === undefined ? typedId : table.value.ids[first];
    if (petId !== undefined) navigate(`/history/${petId}`);
  };
  return (
    <form class="stack" onSubmit={open}>
      <SearchField label="Search by id, name or barcode" text={text} />
      {loadState.value.kind === "loading" && <p class="loading">Loading the pets…</p>}
      <ul class="pet-choices">
        {rows.map((row) => (
          <li key={row}>
            <a href={hrefOf(`/history/${table.value.ids[row]}`)}>
              <bdi class="pet-name-text ellipsis">{table.value.names[row]}</bdi>
              <span class="muted mono">{table.value.ids[row]}</span>
              <span class="spacer" />
              <span>{formatCount(table.value.quantities[row]!)}</span>
              <StatusBadge status={table.value.statusAt(row)} />
            </a>
          </li>
        ))}
      </ul>
      {rows.length === 0 && loadState.value.kind === "ready" && (
        <Nothing text={text.value} typedId={typedId} />
      )}
    </form>
  );
}

function Nothing(props: { readonly text: string; readonly typedId: string | undefined }) {
  const { text, typedId } = props;
  if (text.trim() === "") {
    return (
      <Empty title="There are no pets yet">
        <p>Add a pet first. Its history starts then.</p>
        <LinkButton kind="primary" to="/stock">
          Open the stock
        </LinkButton>
      </Empty>
    );
  }
  return (
    <Empty title="No pet matches">
      {typedId === undefined ? (
        <p>Removed pets can only be found by their id.</p>
      ) : (
        <>
          <p>The pet may have been removed. Its history stays.</p>
          <LinkButton to={`/history/${typedId}`}>Open the history of {typedId}</LinkButton>
        </>
      )}
    </Empty>
  );
}

const rowsPerPage = 200;

/** The changes of one pet as a chart and as a list. */
function EntryHistory({ petId }: { readonly petId: string }) {
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
