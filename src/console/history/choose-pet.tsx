import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { isPetId } from "../activity/change-filter.ts";
import { hrefOf, navigate } from "../page/router.ts";
import { LinkButton } from "../parts/button.tsx";
import { Empty } from "../parts/empty.tsx";
import { SearchField } from "../parts/search-field.tsx";
import { StatusBadge } from "../parts/status.tsx";
import { findRows } from "../stock/find-rows.ts";
import { loadState, loadStock, table } from "../stock/state.ts";
import { formatCount } from "../texts/formats.ts";

/** Finds a pet by its id, its barcode or a part of its name. */
export function ChoosePet() {
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
