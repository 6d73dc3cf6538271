import { useSignal } from "@preact/signals";
import type { ComponentChildren, ComponentProps } from "preact";
import { announce, showError } from "../page/messages.ts";
import { Button } from "./button.tsx";
import { SelectField } from "./choices.tsx";
import { Dialog } from "./dialog.tsx";
import { FormDialog } from "./dialog-form.tsx";
import { FieldError } from "./fields.tsx";

/** A secret that the service will never show again. */
export interface Issued {
  readonly title: string;
  /** What the secret is, for example "key". */
  readonly what: string;
  readonly secret: string;
  /** What to do with it. */
  readonly children: ComponentChildren;
}

interface Props extends Omit<ComponentProps<typeof FormDialog>, "submit"> {
  /** Sends the form. */
  readonly issue: (form: FormData) => Promise<Issued>;
}

/** A dialog whose request returns a secret. Nothing remembers it after the dialog is closed. */
export function IssueDialog({ issue, ...dialog }: Props) {
  const issued = useSignal<Issued | undefined>(undefined);
  if (issued.value) return <ShownOnce {...issued.value} close={dialog.close} />;
  const submit = async (form: FormData) => {
    issued.value = await issue(form);
  };
  return <FormDialog {...dialog} submit={submit} />;
}

/** Shows a secret. The first attempt to leave only warns. */
function ShownOnce(props: Issued & { readonly close: () => void }) {
  const { title, what, secret, children, close } = props;
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

interface CopyProps {
  readonly text: string;
  /** What the text is, for example "key". */
  readonly what: string;
  /** "Copy" unless given. */
  readonly children?: string;
}

export function CopyButton({ text, what, children }: CopyProps) {
  const isCopied = useSignal(false);
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
      isCopied.value = true;
      announce(`Copied the ${what}`);
      setTimeout(() => (isCopied.value = false), 2_000);
    } catch {
      // A page without HTTPS may not copy. With a label of its own, the text is not on the page.
      const end = children ? `: ${text}` : ".";
      showError(`The browser did not allow copying. Select the ${what} and copy it yourself${end}`);
    }
  };
  const label = children ? {} : { label: `Copy the ${what}` };
  return (
    <Button icon={isCopied.value ? "check" : "copy"} {...label} onClick={copy}>
      {isCopied.value ? "Copied" : (children ?? "Copy")}
    </Button>
  );
}

const overlaps = [
  ["0", "Not at all"],
  ["3600", "1 hour"],
  ["86400", "1 day"],
  ["604800", "7 days"],
  ["2592000", "30 days"],
] as const;

interface OverlapProps {
  /** For example "How long the old key still works". */
  readonly label: string;
  /** False if the old secret is needed for a while. */
  readonly canEndAtOnce: boolean;
}

/** How long an old secret works beside the new one. */
export function OverlapField({ label, canEndAtOnce }: OverlapProps) {
  const choices = canEndAtOnce ? overlaps : overlaps.slice(1);
  return <SelectField name="overlap" label={label} choices={choices} value="86400" />;
}

export function readOverlap(form: FormData): { readonly overlapSeconds: number } {
  return { overlapSeconds: Number(form.get("overlap")) };
}
