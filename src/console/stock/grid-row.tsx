import { may } from "../client/session.ts";
import { hrefOf } from "../page/router.ts";
import { Button } from "../parts/button.tsx";
import { Icon } from "../parts/icon.tsx";
import { isNarrow } from "../parts/layout.ts";
import { whoOf } from "../parts/origins.ts";
import { StatusBadge } from "../parts/status.tsx";
import { Time } from "../parts/time.tsx";
import { changeNumber, formatCount } from "../texts/formats.ts";
import { counts, isCounting } from "./counting.ts";
import { CountedCell, EditFields } from "./edit-fields.tsx";
import { type Editing, tryEditing } from "./editing.ts";
import { cellId } from "./focus.ts";
import { lastsUntil, sales } from "./lasting.ts";
import { active, type Column, selected, selectRange, startRange, toggle } from "./selection.ts";
import { current, isLow, openPetDialog } from "./state.ts";
import type { StockTable } from "./table.ts";

interface Props {
  readonly row: number;
  /** The place in the list. */
  readonly index: number;
  /** In pixels. */
  readonly top: number;
  readonly isActive: boolean;
  /** Undefined unless this row is being edited here. */
  readonly edit: Editing | undefined;
}

/** One entry. */
export function GridRow({ row, index, top, isActive, edit }: Props) {
  const { entries } = current.value;
  const { petId, name, category, quantity, status } = entries.entryAt(row);
  const isSelected = selected.value.has(row);
  const change = entries.lastChanges.get(row);
  const lasts = lastsUntil(petId, quantity);
  const cell = (column: Column, kind = "") => ({
    role: "gridcell" as const,
    id: cellId(index, column),
    class: `cell cell-${column} ${kind}`,
    tabIndex: isActive && active.value.column === column ? 0 : -1,
    onFocus: () => (active.value = { index, column }),
  });
  const select = (event: MouseEvent) => {
    if (event.shiftKey) selectRange(index);
    else toggle(index);
  };
  return (
    <div
      role="row"
      class={`grid-row ${isSelected ? "is-selected" : ""} ${edit ? "is-editing" : ""}`}
      aria-rowindex={index + 2}
      aria-selected={isSelected}
      style={{ transform: `translateY(${top}px)` }}
      data-pet={petId}
      onMouseDown={(event) => {
        // Selecting a range of rows must not select text.
        if (event.shiftKey) event.preventDefault();
        startRange(index);
      }}
    >
      {/* The animation starts again with each change, because its element is new. */}
      {change?.isLive && <span key={change.seq} class="change-mark is-changed" />}
      <div {...cell("select")} onClick={select}>
        <input
          type="checkbox"
          class="checkbox"
          tabIndex={-1}
          checked={isSelected}
          aria-label={`Select ${name}`}
        />
      </div>
      <div {...cell("id", "mono small")}>{petId}</div>
      <div {...cell("name")} onClick={() => isNarrow.value && tryEditing(row, "quantity")}>
        {isCounting.value && counts.value.has(petId) && <Icon name="check" />}
        <bdi class="name-text ellipsis">{name}</bdi>
        <span class="name-id ellipsis">
          {[petId, lasts?.text ?? category].filter(Boolean).join(" · ")}
        </span>
      </div>
      <div {...cell("category", "small")}>
        <bdi class="ellipsis">{category}</bdi>
      </div>
      {edit ? (
        <EditFields edit={edit} index={index} />
      ) : (
        <>
          <div {...cell("quantity", "number")} onClick={() => tryEditing(row, "quantity")}>
            {isLow(row, entries) && <span class="badge warning">Low</span>}
            <span class={may("clerk") ? "editable" : ""}>{formatCount(quantity)}</span>
          </div>
          {isCounting.value && <CountedCell petId={petId} />}
          <div {...cell("status")} onClick={() => tryEditing(row, "status")}>
            <StatusBadge status={status} />
          </div>
          <div {...cell("change", "small")}>
            <a href={hrefOf(`/history/${petId}`)} tabIndex={-1} title={`History of ${name}`}>
              {sales.value ? <Lasting {...lasts} /> : <LastChange row={row} entries={entries} />}
            </a>
          </div>
        </>
      )}
      <div role="gridcell" class="cell cell-actions">
        <Button
          kind="quiet"
          isSmall
          icon={may("clerk") ? "edit" : "audit"}
          tabIndex={-1}
          label={`Details of ${name}`}
          onClick={() => openPetDialog(petId)}
        />
      </div>
    </div>
  );
}

function Lasting({ text = "Not sold", pace }: Partial<NonNullable<ReturnType<typeof lastsUntil>>>) {
  return (
    <span title={pace && `Sold ${pace}`}>
      {text} <span class="muted">{pace}</span>
    </span>
  );
}

/** When the entry was changed last, and who did it, if that is known. */
function LastChange({ row, entries }: { readonly row: number; readonly entries: StockTable }) {
  const change = entries.lastChanges.get(row);
  if (!change) return <span class="muted">{changeNumber(entries.versions[row]!)}</span>;
  return (
    <>
      <Time at={change.at} isShort />
      <bdi class="muted ellipsis" title={change.reason ?? whoOf(change)}>
        {whoOf(change)}
      </bdi>
    </>
  );
}
