import type { ComponentChildren } from "preact";
import type { Submission } from "./submission.ts";

interface Props {
  readonly submission: Submission;
  readonly submit: (form: FormData) => void;
  /** The text of the button that submits, for example "Save". */
  readonly action: string;
  /** The text while the request is under way. */
  readonly busyAction?: string;
  readonly isDangerous?: boolean;
  readonly cancel: () => void;
  readonly cancelText?: string;
  /** A button at the other side of the row of buttons. */
  readonly aside?: ComponentChildren;
  readonly children: ComponentChildren;
}

/** The form in a dialog: its fields, why the last attempt failed, and its buttons. */
export function DialogForm(props: Props) {
  const { submission, submit, action, busyAction = action, children, aside } = props;
  const { isDangerous = false, cancel, cancelText = "Cancel" } = props;
  return (
    <form
      class="stack"
      novalidate
      onSubmit={(event) => {
        event.preventDefault();
        submit(new FormData(event.currentTarget));
      }}
    >
      {children}
      <p class="field-error" role="alert">
        {submission.error.value}
      </p>
      <div class="dialog-actions">
        {aside && (
          <>
            {aside}
            <span class="spacer" />
          </>
        )}
        <button type="button" class="button" onClick={cancel}>
          {cancelText}
        </button>
        <button
          type="submit"
          class={`button ${isDangerous ? "danger" : "primary"}`}
          disabled={submission.isBusy.value}
        >
          {submission.isBusy.value ? busyAction : action}
        </button>
      </div>
    </form>
  );
}
