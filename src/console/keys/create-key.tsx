import { useSignal } from "@preact/signals";
import { request } from "../client/api.ts";
import { Dialog } from "../parts/dialog.tsx";
import { DialogForm } from "../parts/dialog-form.tsx";
import { ShownOnce } from "../parts/shown-once.tsx";
import { useSubmission } from "../parts/submission.ts";
import { ExpiryField } from "./expiry-field.tsx";
import { NameField, TermsFields } from "./key-fields.tsx";
import { readKeyForm } from "./key-form.ts";
import type { IssuedKey, KeyKind } from "./types.ts";

interface Props {
  readonly close: () => void;
  readonly created: () => void;
}

/** Issues a key and shows it once. Nothing remembers it after the dialog is closed. */
export function CreateKey({ close, created }: Props) {
  const issued = useSignal<IssuedKey | undefined>(undefined);
  if (issued.value) return <NewKey issued={issued.value} close={close} />;
  const issue = (key: IssuedKey) => {
    issued.value = key;
    created();
  };
  return (
    <Dialog title="New key" close={close}>
      <KeyForm issue={issue} close={close} />
    </Dialog>
  );
}

function KeyForm(props: { readonly issue: (key: IssuedKey) => void; readonly close: () => void }) {
  const kind = useSignal<KeyKind>("api");
  const submission = useSubmission();
  const isOperator = kind.value === "operator";

  function submit(form: FormData): void {
    const reading = readKeyForm(form, isOperator);
    if ("error" in reading) {
      submission.error.value = reading.error;
      return;
    }
    const body = isOperator ? { ...reading.input, kind: "operator" } : reading.input;
    void submission.run(async () =>
      props.issue(await request<IssuedKey>("/keys", { method: "POST", body })),
    );
  }

  return (
    <DialogForm
      submission={submission}
      submit={submit}
      action="Create key"
      busyAction="Creating…"
      cancel={props.close}
    >
      <NameField />
      <fieldset class="choices">
        <legend class="label">For</legend>
        <KindChoice kind={kind.value} name="api" choose={(to) => (kind.value = to)}>
          A client of the API
        </KindChoice>
        <KindChoice kind={kind.value} name="operator" choose={(to) => (kind.value = to)}>
          An operator of this console
        </KindChoice>
      </fieldset>
      {isOperator ? (
        <p class="notice">
          An operator key opens this console. Its owner can change everything, including other keys.
        </p>
      ) : (
        <TermsFields />
      )}
      <ExpiryField />
    </DialogForm>
  );
}

function KindChoice(props: {
  readonly kind: KeyKind;
  readonly name: KeyKind;
  readonly choose: (kind: KeyKind) => void;
  readonly children: string;
}) {
  const { kind, name, choose, children } = props;
  return (
    <label class="choice">
      <input
        type="radio"
        name="kind"
        value={name}
        checked={kind === name}
        onChange={() => choose(name)}
      />
      <span>{children}</span>
    </label>
  );
}

function NewKey({ issued, close }: { readonly issued: IssuedKey; readonly close: () => void }) {
  return (
    <ShownOnce title="Your new key" what="key" secret={issued.key} close={close}>
      <p>
        {issued.kind === "operator" ? "The operator" : "The client"} <bdi>“{issued.name}”</bdi>{" "}
        {issued.kind === "operator"
          ? "signs in to this console with it."
          : "sends it with every request:"}
      </p>
      {issued.kind === "api" && <code class="small">Authorization: Bearer {"<key>"}</code>}
    </ShownOnce>
  );
}
