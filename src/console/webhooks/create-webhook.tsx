import { request } from "../client/api.ts";
import { type CreatedWebhook, petStatusValues } from "../client/types.ts";
import { IssueDialog } from "../parts/dialog-form.tsx";
import { TextField } from "../parts/fields.tsx";
import { causeChoices } from "../parts/origins.ts";
import { ShownOnce } from "../parts/shown-once.tsx";
import { capitalized } from "../texts/formats.ts";
import { readWebhookForm } from "./webhook-form.ts";

interface Props {
  readonly close: () => void;
  readonly created: () => void;
}

/** Creates a webhook and shows its secret once. */
export function CreateWebhook({ close, created }: Props) {
  async function issue(form: FormData): Promise<CreatedWebhook> {
    const body = readWebhookForm(form);
    const webhook = await request<CreatedWebhook>("/webhooks", { method: "POST", body });
    created();
    return webhook;
  }
  return (
    <IssueDialog
      title="New webhook"
      action="Create webhook"
      busyAction="Creating…"
      close={close}
      issue={issue}
      shown={(webhook) => <NewSecret webhook={webhook} close={close} />}
    >
      <TextField name="url" label="URL" inputMode="url" placeholder="https://example.com/stock" />
      <TextField name="name" label="Name (optional)" hint="The host of the URL, if empty." />
      <details>
        <summary>Only some changes</summary>
        <div class="stack webhook-filter">
          <TextField
            name="pets"
            label="Pets"
            hint="Ids, separated by commas or spaces. All pets, if empty."
          />
          <Checks
            name="statuses"
            legend="Status after the change"
            choices={petStatusValues.map((status) => [status, capitalized(status)])}
          />
          <Checks
            name="causes"
            legend="Made by"
            choices={causeChoices.map(([cause, { maker }]) => [cause, maker])}
          />
          <TextField
            name="below"
            label="Only when the quantity falls below"
            hint="For example 5, to hear when stock is low."
            inputMode="numeric"
          />
        </div>
      </details>
    </IssueDialog>
  );
}

function NewSecret(props: { readonly webhook: CreatedWebhook; readonly close: () => void }) {
  const { name, secret, isResolved } = props.webhook;
  return (
    <ShownOnce title="Your new webhook" what="secret" secret={secret} close={props.close}>
      <p>
        The receiver checks with it that messages come from this service. <bdi>“{name}”</bdi>{" "}
        delivers changes from now on.
      </p>
      {!isResolved && (
        <p class="notice warning">
          The host of the URL cannot be found at the moment. Deliveries are tried again later.
        </p>
      )}
    </ShownOnce>
  );
}

/** No choice means all. */
function Checks(props: {
  readonly name: string;
  readonly legend: string;
  readonly choices: readonly (readonly [value: string, text: string])[];
}) {
  return (
    <fieldset class="choices">
      <legend class="label">{props.legend}</legend>
      {props.choices.map(([value, text]) => (
        <label key={value} class="choice">
          <input type="checkbox" class="checkbox" name={props.name} value={value} />
          <span>{text}</span>
        </label>
      ))}
    </fieldset>
  );
}
