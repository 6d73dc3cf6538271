import { useSignal } from "@preact/signals";
import { request } from "../client/api.ts";
import type { IssuedKey, KeyKind } from "../client/types.ts";
import { IssueDialog } from "../parts/dialog-form.tsx";
import { ShownOnce } from "../parts/shown-once.tsx";
import { ExpiryField } from "./expiry-field.tsx";
import { NameField, TermsFields } from "./key-fields.tsx";
import { readKeyForm } from "./key-form.ts";

interface Props {
  readonly close: () => void;
  readonly created: () => void;
}

const kinds: readonly (readonly [KeyKind, string])[] = [
  ["api", "A client of the API"],
  ["operator", "An operator of this console"],
];

/** Issues a key and shows it once. */
export function CreateKey({ close, created }: Props) {
  const kind = useSignal<KeyKind>("api");
  const isOperator = kind.value === "operator";
  async function issue(form: FormData): Promise<IssuedKey> {
    const input = readKeyForm(form, isOperator);
    const body = isOperator ? { ...input, kind: "operator" } : input;
    const issued = await request<IssuedKey>("/keys", { method: "POST", body });
    created();
    return issued;
  }
  return (
    <IssueDialog
      title="New key"
      action="Create key"
      busyAction="Creating…"
      close={close}
      issue={issue}
      shown={(issued) => <NewKey issued={issued} close={close} />}
    >
      <NameField />
      <fieldset class="choices">
        <legend class="label">For</legend>
        {kinds.map(([name, text]) => (
          <label class="choice" key={name}>
            <input
              type="radio"
              name="kind"
              value={name}
              checked={kind.value === name}
              onChange={() => (kind.value = name)}
            />
            <span>{text}</span>
          </label>
        ))}
      </fieldset>
      {isOperator ? (
        <p class="notice">
          An operator key opens this console. Its owner can change everything, including other keys.
        </p>
      ) : (
        <TermsFields />
      )}
      <ExpiryField />
    </IssueDialog>
  );
}

function NewKey({ issued, close }: { readonly issued: IssuedKey; readonly close: () => void }) {
  const isOperator = issued.kind === "operator";
  return (
    <ShownOnce title="Your new key" what="key" secret={issued.key} close={close}>
      <p>
        {isOperator ? "The operator" : "The client"} <bdi>“{issued.name}”</bdi>{" "}
        {isOperator ? "signs in to this console with it." : "sends it with every request:"}
      </p>
      {!isOperator && <code class="small">Authorization: Bearer {"<key>"}</code>}
    </ShownOnce>
  );
}
