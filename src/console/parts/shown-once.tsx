import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { CopyButton } from "./copy-button.tsx";
import { Dialog } from "./dialog.tsx";

interface Props {
  readonly title: string;
  /** What the text is, for example "key". */
  readonly what: string;
  readonly secret: string;
  readonly children?: ComponentChildren;
  readonly close: () => void;
}

/** Shows a secret that the service will never show again. The first attempt to leave only warns. */
export function ShownOnce({ title, what, secret, children, close }: Props) {
  const isWarned = useSignal(false);
  const leave = () => {
    if (isWarned.value) close();
    else isWarned.value = true;
  };
  return (
    <Dialog title={title} close={leave}>
      <div class="stack">
        <p class="notice warning">
          Copy the {what} now. It is shown only once, and nobody can look it up later.
        </p>
        <div class="secret-row">
          <code class="secret" data-secret>
            {secret}
          </code>
          <CopyButton text={secret} what={what} />
        </div>
        {children}
        <p class="field-error" role="alert">
          {isWarned.value && `Have you stored the ${what}? It cannot be shown again.`}
        </p>
        <div class="dialog-actions">
          <button type="button" class="button primary" onClick={close}>
            I have stored the {what}
          </button>
        </div>
      </div>
    </Dialog>
  );
}
