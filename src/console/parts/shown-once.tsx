import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { Button } from "./button.tsx";
import { CopyButton } from "./copy-button.tsx";
import { Dialog } from "./dialog.tsx";
import { FieldError } from "./fields.tsx";

interface Props {
  readonly title: string;
  /** What the secret is, for example "key". */
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
        <FieldError>
          {isWarned.value && `Have you stored the ${what}? It cannot be shown again.`}
        </FieldError>
        <div class="dialog-actions">
          <Button kind="primary" onClick={close}>
            I have stored the {what}
          </Button>
        </div>
      </div>
    </Dialog>
  );
}
