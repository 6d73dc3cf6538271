import { useLayoutEffect, useRef } from "preact/hooks";
import { Button } from "../parts/button.tsx";
import { Select } from "../parts/choices.tsx";
import { ReasonInput } from "../parts/fields.tsx";
import { statusChoices } from "../parts/status.tsx";
import { formatCount, signed } from "../texts/formats.ts";
import { countedBy } from "./colleagues.ts";
import { counts, isCounting } from "./counting.ts";
import { cancelEditing, changeEditing, type Editing, saveEditing } from "./editing.ts";
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
