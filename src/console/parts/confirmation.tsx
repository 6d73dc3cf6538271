import type { ComponentChildren } from "preact";
import { ShownError } from "../client/api.ts";
import { FormDialog } from "./dialog-form.tsx";
import { TextField } from "./fields.tsx";

interface Props {
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
export function Confirmation({ children, typed, run, close, ...dialog }: Props) {
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
