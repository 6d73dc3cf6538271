import { useLayoutEffect, useRef } from "preact/hooks";
import { type PetStatus, petStatusValues } from "../client/types.ts";
import { Icon } from "../parts/icon.tsx";
import { reasonCharactersMax } from "../parts/reasons.ts";
import { capitalized } from "../texts/capitalized.ts";
import { CountedCell } from "./counted-cell.tsx";
import { isCounting } from "./counting.ts";
import { cancelEditing, changeEditing, type Editing, saveEditing } from "./editing.ts";
import { cellId, leaveEdit } from "./keyboard.ts";

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
          inputMode="numeric"
          autocomplete="off"
          aria-label={`Quantity of ${base.name}`}
          aria-invalid={error !== ""}
          aria-errormessage={error === "" ? undefined : "edit-error"}
          value={quantity}
          disabled={isSaving}
          onInput={(event) => changeEditing({ quantity: event.currentTarget.value })}
        />
        {error !== "" && (
          <p class="field-error edit-error" id="edit-error" role="alert">
            {error}
          </p>
        )}
      </div>
      {isCounting.value && <CountedCell petId={base.petId} />}
      <div role="gridcell" class="cell edit-cell cell-status" id={cellId(index, "status")}>
        <select
          ref={edit.field === "status" ? field : null}
          class="select status-select"
          aria-label={`Status of ${base.name}`}
          value={status}
          disabled={isSaving}
          onChange={(event) => changeEditing({ status: event.currentTarget.value as PetStatus })}
        >
          {petStatusValues.map((one) => (
            <option key={one} value={one}>
              {capitalized(one)}
            </option>
          ))}
        </select>
      </div>
      <div role="gridcell" class="cell edit-cell cell-change edit-tools">
        <input
          class="input"
          placeholder="Reason (optional)"
          aria-label="Reason (optional)"
          maxLength={reasonCharactersMax}
          autocomplete="off"
          value={reason}
          disabled={isSaving}
          onInput={(event) => changeEditing({ reason: event.currentTarget.value })}
        />
        <button
          type="button"
          class="button small primary icon-only"
          aria-label="Save"
          disabled={isSaving}
          onClick={async () => {
            if (await saveEditing()) leaveEdit(edit);
          }}
        >
          <Icon name="check" />
        </button>
        <button
          type="button"
          class="button small icon-only"
          aria-label="Cancel"
          onClick={() => {
            cancelEditing();
            leaveEdit(edit);
          }}
        >
          <Icon name="close" />
        </button>
      </div>
    </>
  );
}
