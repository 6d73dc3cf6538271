import { useEffect } from "preact/hooks";
import { type PetStatus, petStatusValues } from "../client/types.ts";
import { Dialog } from "../parts/dialog.tsx";
import { reasonCharactersMax } from "../parts/reasons.ts";
import { capitalized } from "../texts/capitalized.ts";
import { ConflictPanel } from "./conflict-panel.tsx";
import {
  cancelEditing,
  changeEditing,
  type Editing,
  editing,
  editPlace,
  saveEditing,
} from "./editing.ts";

/** The edit on a phone. */
export function EditSheet() {
  const edit = editing.value;
  return edit && editPlace.value === "sheet" ? <Sheet edit={edit} /> : null;
}

function Sheet({ edit }: { readonly edit: Editing }) {
  // Whoever comes back to the view finds the edit as a notice, and not as a sheet that takes the focus.
  useEffect(() => () => changeEditing({ isInSheet: false }), []);
  const { base, quantity, status, reason, theirs, isSaving, error } = edit;
  return (
    <Dialog title={base.name} close={cancelEditing}>
      <form
        class="stack"
        novalidate
        onSubmit={(event) => {
          event.preventDefault();
          void saveEditing();
        }}
      >
        <div class="field">
          <label for="edit-quantity">Quantity</label>
          <input
            id="edit-quantity"
            class="input"
            inputMode="numeric"
            autocomplete="off"
            value={quantity}
            aria-invalid={error !== ""}
            aria-describedby="edit-sheet-error"
            onInput={(event) => changeEditing({ quantity: event.currentTarget.value })}
          />
          <p class="field-error" id="edit-sheet-error" role="alert">
            {error}
          </p>
        </div>
        <div class="field">
          <label for="edit-status">Status</label>
          <select
            id="edit-status"
            class="select status-select"
            value={status}
            onChange={(event) => changeEditing({ status: event.currentTarget.value as PetStatus })}
          >
            {petStatusValues.map((one) => (
              <option key={one} value={one}>
                {capitalized(one)}
              </option>
            ))}
          </select>
        </div>
        <div class="field">
          <label for="edit-reason">Reason (optional)</label>
          <input
            id="edit-reason"
            class="input"
            maxLength={reasonCharactersMax}
            autocomplete="off"
            value={reason}
            onInput={(event) => changeEditing({ reason: event.currentTarget.value })}
          />
        </div>
        {theirs && <ConflictPanel edit={edit} theirs={theirs} done={() => undefined} />}
        <div class="dialog-actions">
          <button type="button" class="button" onClick={cancelEditing}>
            Cancel
          </button>
          <button type="submit" class="button primary" disabled={isSaving || theirs !== undefined}>
            {isSaving ? "Saving…" : "Save"}
          </button>
        </div>
      </form>
    </Dialog>
  );
}
