import { useEffect } from "preact/hooks";
import { announce } from "../page/messages.ts";
import { Button } from "../parts/button.tsx";
import { FieldError } from "../parts/fields.tsx";
import { capitalized } from "../texts/formats.ts";
import { ConflictPanel } from "./conflict-panel.tsx";
import {
  cancelEditing,
  type Editing,
  editing,
  editPlace,
  isDirty,
  saveEditing,
} from "./editing.ts";

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
