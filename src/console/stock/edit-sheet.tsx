import { useEffect } from "preact/hooks";
import { Button } from "../parts/button.tsx";
import { SelectField } from "../parts/choices.tsx";
import { Dialog } from "../parts/dialog.tsx";
import { ReasonField } from "../parts/reason-field.tsx";
import { statusChoices } from "../parts/status.tsx";
import { takeForm } from "../parts/submission.ts";
import { ConflictPanel } from "./conflict-panel.tsx";
import { QuantityNote } from "./edit-fields.tsx";
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
      <form class="stack" novalidate onSubmit={takeForm(saveEditing)}>
        <div class="field">
          <label for="edit-quantity">Quantity</label>
          <input
            id="edit-quantity"
            class="input"
            inputMode="text"
            autocomplete="off"
            value={quantity}
            aria-invalid={error !== ""}
            aria-describedby="edit-note"
            onInput={(event) => changeEditing({ quantity: event.currentTarget.value })}
          />
          <QuantityNote edit={edit} />
        </div>
        <SelectField
          label="Status"
          class="status-select"
          choices={statusChoices}
          value={status}
          choose={(to) => changeEditing({ status: to })}
        />
        <ReasonField value={reason} change={(text) => changeEditing({ reason: text })} />
        {theirs && <ConflictPanel edit={edit} theirs={theirs} />}
        <div class="dialog-actions">
          <Button onClick={cancelEditing}>Cancel</Button>
          <Button kind="primary" isDisabled={isSaving || theirs !== undefined}>
            {isSaving ? "Saving…" : "Save"}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
