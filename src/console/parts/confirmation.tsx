import type { ComponentChildren } from "preact";
import { Dialog } from "./dialog.tsx";
import { DialogForm } from "./dialog-form.tsx";
import { useSubmission } from "./submission.ts";
import { TextField } from "./text-field.tsx";

interface Props {
  readonly title: string;
  /** What will happen, with the name of the thing. */
  readonly children: ComponentChildren;
  /** The text of the button, for example "Revoke". */
  readonly action: string;
  readonly isDangerous?: boolean;
  /** A text that the person types first, for what is easily done by mistake. */
  readonly typed?: string;
  readonly run: () => Promise<void>;
  readonly close: () => void;
}

/** Asks before something is done that cannot be undone. It closes when the work is done. */
export function Confirmation(props: Props) {
  const { title, children, action, isDangerous = true, typed, run, close } = props;
  const submission = useSubmission();

  function confirm(form: FormData): void {
    if (typed !== undefined && String(form.get("typed")).trim() !== typed.trim()) {
      submission.error.value = "This is not the name. Type it exactly as it is shown.";
      return;
    }
    void submission.run(async () => {
      await run();
      close();
    });
  }

  return (
    <Dialog title={title} close={close}>
      <DialogForm
        submission={submission}
        submit={confirm}
        action={action}
        busyAction="One moment…"
        isDangerous={isDangerous}
        cancel={close}
      >
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
      </DialogForm>
    </Dialog>
  );
}
