import { useSignal } from "@preact/signals";
import { request } from "../client/api.ts";
import { statuses } from "../client/types.ts";
import { Dialog } from "../parts/dialog.tsx";
import { DialogForm } from "../parts/dialog-form.tsx";
import { ShownOnce } from "../parts/shown-once.tsx";
import { useSubmission } from "../parts/submission.ts";
import { TextField } from "../parts/text-field.tsx";
import { capitalized } from "../texts/capitalized.ts";
import { type CreatedWebhook, causeChoices } from "./types.ts";
import { readWebhookForm } from "./webhook-form.ts";

interface Props {
  readonly close: () => void;
  readonly created: () => void;
}

/** Creates a webhook and shows its secret once. */
export function CreateWebhook({ close, created }: Props) {
  const result = useSignal<CreatedWebhook | undefined>(undefined);
  if (result.value) {
    const { name, secret, isResolved } = result.value;
    return (
      <ShownOnce title="Your new webhook" what="secret" secret={secret} close={close}>
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
  return (
    <Dialog title="New webhook" close={close}>
      <WebhookForm
        close={close}
        created={(webhook) => {
          result.value = webhook;
          created();
        }}
      />
    </Dialog>
  );
}

function WebhookForm(props: {
  readonly close: () => void;
  readonly created: (webhook: CreatedWebhook) => void;
}) {
  const submission = useSubmission();

  function submit(form: FormData): void {
    const reading = readWebhookForm(form);
    if ("error" in reading) {
      submission.error.value = reading.error;
      return;
    }
    const body = reading.input;
    void submission.run(async () => {
      props.created(await request<CreatedWebhook>("/webhooks", { method: "POST", body }));
    });
  }

  return (
    <DialogForm
      submission={submission}
      submit={submit}
      action="Create webhook"
      busyAction="Creating…"
      cancel={props.close}
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
            choices={statuses.map((status) => [status, capitalized(status)])}
          />
          <Checks name="causes" legend="Made by" choices={causeChoices} />
          <TextField
            name="below"
            label="Only when the quantity falls below"
            hint="For example 5, to hear when stock is low."
            inputMode="numeric"
          />
        </div>
      </details>
    </DialogForm>
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
