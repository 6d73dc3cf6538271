import { useSignal } from "@preact/signals";
import { request } from "../client/api.ts";
import type { IssuedKey, KeyKind } from "../client/types.ts";
import { ChoiceList } from "../parts/choices.tsx";
import { IssueDialog, type Issued } from "../parts/issue-dialog.tsx";
import { ExpiryField, NameField, readKeyForm, TermsFields } from "./key-form.tsx";

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
  async function issue(form: FormData): Promise<Issued> {
    const body = { ...readKeyForm(form, isOperator), kind: kind.value };
    const { key, name } = await request<IssuedKey>("/keys", { method: "POST", body });
    created();
    return {
      ...{ title: "Your new key", what: "key", secret: key },
      children: (
        <>
          <p>
            {isOperator ? "The operator" : "The client"} <bdi>“{name}”</bdi>{" "}
            {isOperator ? "signs in to this console with it." : "sends it with every request:"}
          </p>
          {!isOperator && <code class="small">Authorization: Bearer {"<key>"}</code>}
        </>
      ),
    };
  }
  return (
    <IssueDialog
      title="New key"
      action="Create key"
      busyAction="Creating…"
      close={close}
      issue={issue}
    >
      <NameField />
      <ChoiceList
        legend="For"
        type="radio"
        name="kind"
        choices={kinds}
        isChosen={(one) => one === "api"}
        choose={(one) => (kind.value = one)}
      />
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
