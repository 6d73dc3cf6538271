import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useId } from "preact/hooks";
import { Dialog } from "./dialog.tsx";
import { useSubmission } from "./submission.ts";

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
  const { isBusy, error, run: submit } = useSubmission();
  const text = useSignal("");
  const id = useId();

  function confirm(event: Event): void {
    event.preventDefault();
    if (typed !== undefined && text.value.trim() !== typed.trim()) {
      error.value = "This is not the name. Type it exactly as it is shown.";
      return;
    }
    void submit(async () => {
      await run();
      close();
    });
  }

  return (
    <Dialog title={title} close={close}>
      <form class="stack" novalidate onSubmit={confirm}>
        {children}
        {typed !== undefined && (
          <div class="field">
            <label for={id}>
              Type <bdi class="mono">{typed}</bdi> to confirm
            </label>
            <input
              id={id}
              class="input"
              autocomplete="off"
              spellcheck={false}
              value={text.value}
              onInput={(event) => {
                text.value = event.currentTarget.value;
              }}
            />
          </div>
        )}
        <p class="field-error" role="alert">
          {error.value}
        </p>
        <div class="dialog-actions">
          <button type="button" class="button" onClick={close}>
            Cancel
          </button>
          <button
            type="submit"
            class={`button ${isDangerous ? "danger" : "primary"}`}
            disabled={isBusy.value}
          >
            {isBusy.value ? "One moment…" : action}
          </button>
        </div>
      </form>
    </Dialog>
  );
}
