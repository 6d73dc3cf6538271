import { useEffect } from "preact/hooks";
import { announce } from "../page/messages.ts";
import { Button } from "../parts/button.tsx";
import { SelectField } from "../parts/choices.tsx";
import { Dialog } from "../parts/dialog.tsx";
import { FieldError, ReasonField, takeForm } from "../parts/fields.tsx";
import { statusChoices } from "../parts/status.tsx";
import { capitalized } from "../texts/formats.ts";
import { ConflictPanel, QuantityNote } from "./edit-fields.tsx";
import {
  cancelEditing,
  changeEditing,
  type Editing,
  editing,
  editPlace,
  isDirty,
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

/** Stands for an edit whose row is not in the list. It leaves the focus and the keys where they are. */
export function UnfinishedEdit() {
  const edit = editing.value;
  if (!edit || editPlace.value !== "hidden" || !isDirty(edit)) return null;
  return <Notice edit={edit} />;
}

function Notice({ edit }: { readonly edit: Editing }) {
  const { base, quantity, status, theirs, isSaving, error } = edit;
  const typed = status === base.status ? quantity : `${quantity}, ${capitalized(status)}`;
  useEffect(() => announce(`The edit of ${base.name} is not finished: ${typed} is not saved.`), []);
  if (theirs) {
    return (
      <div class="stack unfinished-edit">
        <p>
          The edit of <bdi>{base.name}</bdi> is not saved.
        </p>
        <ConflictPanel edit={edit} theirs={theirs} />
      </div>
    );
  }
  return (
    <section class="notice warning spread unfinished-edit" aria-label="Unfinished edit">
      <span>
        <bdi>{base.name}</bdi>: <strong>{typed}</strong> is not saved.
      </span>
      <div class="row">
        <Button kind="primary" isSmall isDisabled={isSaving} onClick={saveEditing}>
          {isSaving ? "Saving…" : "Save"}
        </Button>
        <Button isSmall onClick={cancelEditing}>
          Discard
        </Button>
      </div>
      <FieldError>{error}</FieldError>
    </section>
  );
}
