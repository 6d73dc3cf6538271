import { useSignal } from "@preact/signals";
import { request } from "../client/api.ts";
import type { IssuedKey } from "../client/types.ts";
import { ChoiceList } from "../parts/choices.tsx";
import { IssueDialog, type Issued } from "../parts/issue-dialog.tsx";
import { ExpiryField, NameField, RoleField, readKeyForm, TermsFields } from "./key-form.tsx";
import { type Choice, keyUses, usualTerms } from "./terms.ts";

interface Props {
  readonly close: () => void;
  readonly created: () => void;
  /** What is chosen at first: the name of a use, or `colleague`. */
  readonly use?: string | null;
}

const colleague = "colleague";
const uses: readonly Choice[] = [
  ...keyUses,
  [colleague, "A colleague", "signs in to this console"],
];

/** Issues a key and shows it once. */
export function CreateKey({ close, created, use }: Props) {
  const initial = uses.find(([name]) => name === use)?.[0] ?? "web-shop";
  const chosen = useSignal(initial);
  const isOperator = chosen.value === colleague;
  async function issue(form: FormData): Promise<Issued> {
    const body = { ...readKeyForm(form, isOperator), kind: isOperator ? "operator" : "api" };
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
        name="use"
        choices={uses}
        isChosen={(one) => one === initial}
        choose={(one) => (chosen.value = one)}
      />
      {isOperator ? (
        <RoleField value="clerk" />
      ) : (
        // Another use fills in the fields again.
        <TermsFields key={chosen.value} {...usualTerms[chosen.value]} />
      )}
      <ExpiryField />
    </IssueDialog>
  );
}
