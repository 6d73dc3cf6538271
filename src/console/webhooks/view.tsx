import { useSignal } from "@preact/signals";
import { request, ShownError } from "../client/api.ts";
import type {
  CreatedWebhook,
  NewWebhook,
  PetStatus,
  Webhook,
  WebhookFilterCauses,
  WebhookWithAttempts,
} from "../client/types.ts";
import { hrefOf } from "../page/router.ts";
import { Button } from "../parts/button.tsx";
import { ChoiceList } from "../parts/choices.tsx";
import { TextField } from "../parts/fields.tsx";
import { IssueDialog, type Issued } from "../parts/issue-dialog.tsx";
import { Empty, usePolled, WhenLoaded } from "../parts/loaded.tsx";
import { causeChoices } from "../parts/origins.ts";
import { statusChoices } from "../parts/status.tsx";
import { type Column, Table } from "../parts/table.tsx";
import { Detail, ViewHead, type ViewProps } from "../parts/view.tsx";
import { formatCount } from "../texts/formats.ts";
import { WebhookDetail } from "./detail.tsx";
import { HealthBadge, HealthText } from "./health.tsx";

/** /webhooks lists all webhooks, /webhooks/ID shows one. */
export default function WebhooksView({ rest }: ViewProps) {
  if (rest === "") return <WebhookList />;
  return (
    <Detail<WebhookWithAttempts> key={rest} of="webhooks" id={rest}>
      {(webhook, reload) => <WebhookDetail webhook={webhook} reload={reload} />}
    </Detail>
  );
}

function WebhookList() {
  const source = usePolled<readonly Webhook[]>("/webhooks");
  const isCreating = useSignal(false);
  const create = () => (isCreating.value = true);
  return (
    <>
      <ViewHead title="Webhooks">
        <Button kind="primary" icon="plus" onClick={create}>
          New webhook
        </Button>
      </ViewHead>
      <WhenLoaded source={source}>
        {(webhooks) =>
          webhooks.length > 0 ? (
            <Table rows={webhooks} keyOf={({ id }) => id} columns={columns} />
          ) : (
            <Empty title="There are no webhooks yet">
              <p>A webhook sends every change to stock to your own server, in order and signed.</p>
              <Button onClick={create}>Create a webhook</Button>
            </Empty>
          )
        }
      </WhenLoaded>
      {isCreating.value && (
        <CreateWebhook
          close={() => (isCreating.value = false)}
          created={() => void source.reload()}
        />
      )}
    </>
  );
}

const columns: readonly Column<Webhook>[] = [
  {
    title: "Name",
    class: "row-name",
    isMain: true,
    cell: ({ id, name, url }) => (
      <>
        <a href={hrefOf(`/webhooks/${id}`)}>
          <bdi>{name}</bdi>
        </a>
        <bdi class="muted small webhook-url">{url}</bdi>
      </>
    ),
  },
  {
    title: "State",
    cell: (webhook) => (
      <span>
        <HealthBadge {...webhook} />
      </span>
    ),
  },
  {
    title: "Deliveries",
    cell: (webhook) => (
      <span>
        <HealthText webhook={webhook} />
      </span>
    ),
  },
  { title: "Behind", isNumber: true, cell: ({ behind }) => formatCount(behind) },
];

interface CreateProps {
  readonly close: () => void;
  readonly created: () => void;
}

/** Creates a webhook and shows its secret once. */
function CreateWebhook({ close, created }: CreateProps) {
  async function issue(form: FormData): Promise<Issued> {
    const body = readWebhookForm(form);
    const webhook = await request<CreatedWebhook>("/webhooks", { method: "POST", body });
    created();
    return {
      ...{ title: "Your new webhook", what: "secret", secret: webhook.secret },
      children: <NewWebhookText {...webhook} />,
    };
  }
  return (
    <IssueDialog
      title="New webhook"
      action="Create webhook"
      busyAction="Creating…"
      close={close}
      issue={issue}
    >
      <TextField name="url" label="URL" inputMode="url" placeholder="https://example.com/stock" />
      <TextField name="name" label="Name (optional)" hint="The host of the URL, if empty." />
      <details>
        <summary>Only some changes</summary>
        <div class="stack">
          <TextField
            name="pets"
            label="Pets"
            hint="Ids, separated by commas or spaces. All pets, if empty."
          />
          <ChoiceList
            legend="Status after the change"
            type="checkbox"
            name="statuses"
            choices={statusChoices}
          />
          <ChoiceList
            legend="Made by"
            type="checkbox"
            name="causes"
            choices={causeChoices.map(([cause, { maker }]) => [cause, maker])}
          />
          <TextField
            name="below"
            label="Only when the quantity falls below"
            hint="For example 5, to hear of this quantity for all pets."
            inputMode="numeric"
          />
          <ChoiceList
            legend="Low stock"
            type="checkbox"
            name="becomesLow"
            choices={[["true", "Only when stock becomes low, by the threshold of the pet"]]}
          />
        </div>
      </details>
    </IssueDialog>
  );
}

function NewWebhookText({ name, isResolved }: CreatedWebhook) {
  return (
    <>
      <p>
        The receiver checks with it that messages come from this service. <bdi>“{name}”</bdi>{" "}
        delivers changes from now on.
      </p>
      {!isResolved && (
        <p class="notice warning">
          The host of the URL cannot be found at the moment. Deliveries are tried again later.
        </p>
      )}
    </>
  );
}

/** Reads the form. Throws an error for the person if something is wrong with it. */
function readWebhookForm(form: FormData): NewWebhook {
  const text = (name: string) => String(form.get(name) ?? "").trim();
  const [url, name, below] = [text("url"), text("name"), text("below")];
  if (!/^https?:\/\/\S+$/.test(url)) {
    throw new ShownError("Enter the full URL of the receiver, such as https://example.com/stock.");
  }
  const pets = text("pets")
    .split(/[\s,]+/)
    .filter((id) => id !== "");
  if (!pets.every((id) => /^-?\d{1,19}$/.test(id))) {
    throw new ShownError("Ids of pets are whole numbers. Separate them by commas.");
  }
  if (below !== "" && !/^[1-9]\d{0,14}$/.test(below)) {
    throw new ShownError("The quantity must be a whole number, 1 or more.");
  }
  return {
    url,
    name: name === "" ? null : name,
    pets: allIfEmpty(pets),
    statuses: allIfEmpty(form.getAll("statuses") as PetStatus[]),
    causes: allIfEmpty(form.getAll("causes") as WebhookFilterCauses[]),
    below: below === "" ? null : Number(below),
    becomesLow: form.has("becomesLow"),
  };
}

function allIfEmpty<T>(chosen: readonly T[]): readonly T[] | null {
  return chosen.length === 0 ? null : chosen;
}
