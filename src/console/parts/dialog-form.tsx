import type { ComponentChildren } from "preact";
import { ShownError } from "../client/api.ts";
import { Button } from "./button.tsx";
import { Dialog } from "./dialog.tsx";
import { FieldError, TextField, takeForm, useSubmission } from "./fields.tsx";

interface FormProps {
  /** Reads and sends the form. What it throws is shown, and the form stays. */
  readonly submit: (form: FormData) => Promise<void>;
  /** The text of the button that submits, for example "Save". */
  readonly action: string;
  /** The text while the request is under way. */
  readonly busyAction?: string;
  readonly isDangerous?: boolean;
  readonly close: () => void;
  readonly cancelText?: string;
  /** A button at the other side of the row of buttons. */
  readonly aside?: ComponentChildren;
  readonly children: ComponentChildren;
}

/** The form in a dialog: its fields, why the last attempt failed, and its buttons. */
export function DialogForm(props: FormProps) {
  const { submit, action, busyAction = action, children, aside } = props;
  const { isDangerous = false, close, cancelText = "Cancel" } = props;
  const { isBusy, error, run } = useSubmission();
  return (
    <form class="stack" novalidate onSubmit={takeForm((form) => run(() => submit(form)))}>
      {children}
      <FieldError>{error.value}</FieldError>
      <div class="dialog-actions">
        {aside && (
          <>
            {aside}
            <span class="spacer" />
          </>
        )}
        <Button onClick={close}>{cancelText}</Button>
        <Button kind={isDangerous ? "danger" : "primary"} isDisabled={isBusy.value}>
          {isBusy.value ? busyAction : action}
        </Button>
      </div>
    </form>
  );
}

interface DialogProps extends FormProps {
  readonly title: string;
  readonly isWide?: boolean;
}

/** A dialog with a form in it. */
export function FormDialog({ title, isWide = false, ...form }: DialogProps) {
  return (
    <Dialog title={title} close={form.close} isWide={isWide}>
      <DialogForm {...form} />
    </Dialog>
  );
}

interface ConfirmationProps {
  readonly title: string;
  /** What will happen, with the name of the thing. */
  readonly children: ComponentChildren;
  /** The text of the button, for example "Revoke". */
  readonly action: string;
  /** A text that the person types first, for what is easily done by mistake. */
  readonly typed?: string | undefined;
  readonly run: () => Promise<void>;
  readonly close: () => void;
}

/** Asks before something is done that cannot be undone. It closes when the work is done. */
export function Confirmation({ children, typed, run, close, ...dialog }: ConfirmationProps) {
  async function submit(form: FormData): Promise<void> {
    if (typed !== undefined && String(form.get("typed")).trim() !== typed.trim()) {
      throw new ShownError("This is not the name. Type it exactly as it is shown.");
    }
    await run();
    close();
  }
  return (
    <FormDialog {...dialog} busyAction="One moment…" isDangerous submit={submit} close={close}>
      {children}
      {typed !== undefined && (
        <TextField
          name="typed"
          label={
            <>
              Type <bdi class="mono">{typed}</bdi> to confirm
            </>
          }
        />
      )}
    </FormDialog>
  );
}
