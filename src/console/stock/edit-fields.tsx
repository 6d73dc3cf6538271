import { useLayoutEffect, useRef } from "preact/hooks";
import type { LedgerRow } from "../client/types.ts";
import { Button } from "../parts/button.tsx";
import { Select } from "../parts/choices.tsx";
import { ReasonInput } from "../parts/fields.tsx";
import { Name } from "../parts/names.tsx";
import { whoOf } from "../parts/origins.ts";
import { StatusBadge, statusChoices } from "../parts/status.tsx";
import { Time } from "../parts/time.tsx";
import { formatCount, signed } from "../texts/formats.ts";
import { countedBy } from "./colleagues.ts";
import { counts, isCounting } from "./counting.ts";
import {
  cancelEditing,
  changeEditing,
  type Editing,
  keepMine,
  saveEditing,
  takeTheirs,
} from "./editing.ts";
import { cellId } from "./focus.ts";
import { parseAddition } from "./quantities.ts";
import { current } from "./state.ts";

interface Props {
  readonly edit: Editing;
  readonly index: number;
}

/** The cells of a row that is being edited: quantity, status and reason. */
export function EditFields({ edit, index }: Props) {
  const { base, quantity, status, reason, isSaving, error } = edit;
  const field = useRef<HTMLInputElement & HTMLSelectElement>(null);
  // Before the next key is pressed. Fields that come back with their row leave the focus where it is.
  useLayoutEffect(() => {
    if (!edit.wantsFocus) return;
    field.current?.focus();
    // A digit that started the edit stays, and the next one follows it.
    if (edit.field === "quantity" && quantity === String(base.quantity)) field.current?.select();
    changeEditing({ wantsFocus: false });
  }, []);
  return (
    <>
      <div role="gridcell" class="cell edit-cell cell-quantity" id={cellId(index, "quantity")}>
        <input
          ref={edit.field === "quantity" ? field : null}
          class="input number"
          inputMode="text"
          autocomplete="off"
          aria-label={`Quantity of ${base.name}`}
          aria-invalid={error !== ""}
          aria-errormessage={error === "" ? undefined : "edit-note"}
          value={quantity}
          disabled={isSaving}
          onInput={(event) => changeEditing({ quantity: event.currentTarget.value })}
        />
        <QuantityNote edit={edit} />
      </div>
      {isCounting.value && <CountedCell petId={base.petId} />}
      <div role="gridcell" class="cell edit-cell cell-status" id={cellId(index, "status")}>
        <Select
          field={edit.field === "status" ? field : null}
          class="status-select"
          label={`Status of ${base.name}`}
          choices={statusChoices}
          value={status}
          isDisabled={isSaving}
          choose={(to) => changeEditing({ status: to })}
        />
      </div>
      <div role="gridcell" class="cell edit-cell cell-change edit-tools">
        <ReasonInput
          value={reason}
          isDisabled={isSaving}
          change={(text) => changeEditing({ reason: text })}
        />
        <Button
          kind="primary"
          isSmall
          icon="check"
          label="Save"
          isDisabled={isSaving}
          onClick={saveEditing}
        />
        <Button isSmall icon="close" label="Cancel" onClick={cancelEditing} />
      </div>
    </>
  );
}

/** What is wrong with an edit, or what its `+2` leads to now. */
export function QuantityNote({ edit: { base, quantity, error } }: Pick<Props, "edit">) {
  const { entries } = current.value;
  const { [entries.findRow(base.petId) ?? -1]: now = base.quantity } = entries.quantities;
  const delta = parseAddition(quantity);
  const note = error || (delta !== undefined && `= ${formatCount(now + delta)}`);
  const [kind, role] = error ? (["field-error", "alert"] as const) : (["hint", "status"] as const);
  return note ? (
    <p class={`edit-note ${kind}`} id="edit-note" role={role}>
      {note}
    </p>
  ) : null;
}

/** The counted quantity with its difference from the expected one, and who else has counted it. */
export function CountedCell({ petId }: { readonly petId: string }) {
  const count = counts.value.get(petId);
  const others = countedBy.value.get(petId);
  const difference = count ? count.counted - count.expected : 0;
  return (
    <div role="gridcell" class="cell cell-counted number">
      {count && formatCount(count.counted)}
      {difference !== 0 && <span class="badge warning">{signed(difference)}</span>}
      {others && (
        <span class="badge ellipsis" title={`Counted by ${others}`}>
          <bdi>{others}</bdi>
        </span>
      )}
    </div>
  );
}

interface ConflictProps {
  readonly edit: Editing;
  readonly theirs: LedgerRow;
  /** In pixels, below the row. Undefined inside a sheet. */
  readonly top?: number;
}

/** Shows both changes and who made the other one. Nothing is saved before the person decides. */
export function ConflictPanel({ edit, theirs, top }: ConflictProps) {
  const who = whoOf(theirs);
  const isRemoved = theirs.after === null;
  return (
    <section
      class={`conflict ${top === undefined ? "" : "popup"}`}
      style={top === undefined ? {} : { top: `${top}px` }}
      role="alertdialog"
      aria-label="Somebody else changed this entry"
      onKeyDown={(event) => {
        if (event.key === "Escape") takeTheirs();
      }}
    >
      <p class="conflict-title">
        <Name>{who}</Name> {isRemoved ? "removed" : "changed"} this entry at <Time at={theirs.at} />
        {theirs.reason && (
          <>
            : “<bdi>{theirs.reason}</bdi>”
          </>
        )}
      </p>
      <dl class="conflict-sides">
        <div>
          <dt class="hint">Mine</dt>
          <dd>
            <span class="stat">{edit.quantity}</span> <StatusBadge status={edit.status} />
          </dd>
        </div>
        <div>
          <dt class="hint">Theirs</dt>
          <dd>
            {theirs.after ? (
              <>
                <span class="stat">{formatCount(theirs.after.quantity)}</span>{" "}
                <StatusBadge status={theirs.after.status} />
              </>
            ) : (
              "Removed"
            )}
          </dd>
        </div>
      </dl>
      <div class="row">
        {!isRemoved && (
          <Button kind="primary" isSmall onClick={keepMine}>
            Save mine
          </Button>
        )}
        <Button isSmall onClick={takeTheirs}>
          {isRemoved ? "Close" : "Keep theirs"}
        </Button>
      </div>
    </section>
  );
}
