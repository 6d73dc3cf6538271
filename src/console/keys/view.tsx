import { useSignal } from "@preact/signals";
import { isUsable } from "../../domain/operations/attention.ts";
import { request } from "../client/api.ts";
import type { IssuedKey, Key } from "../client/types.ts";
import { navigate } from "../page/router.ts";
import { Button, LinkButton } from "../parts/button.tsx";
import { ButtonGroup, ChoiceList, choicesOf } from "../parts/choices.tsx";
import { SearchField } from "../parts/fields.tsx";
import { IssueDialog, type Issued } from "../parts/issue-dialog.tsx";
import { Empty, usePolled, WhenLoaded } from "../parts/loaded.tsx";
import { Table } from "../parts/table.tsx";
import { BackLink, Detail, ViewHead, type ViewProps } from "../parts/view.tsx";
import { countOf } from "../texts/formats.ts";
import { KeyDetail } from "./detail.tsx";
import { ExpiryField, NameField, RoleField, readKeyForm, TermsFields } from "./key-form.tsx";
import { keyColumns } from "./key-table.tsx";
import { RequestCards } from "./requests-card.tsx";
import { type Choice, keyUses, usualTerms } from "./terms.ts";

/** /keys lists all keys, /keys/ID shows one, and /keys/none what was sent without one. */
export default function KeysView({ rest, query }: ViewProps) {
  if (rest === "") return <KeyList query={query} />;
  if (rest === "none") return <WithoutKey />;
  return (
    <Detail<Key> key={rest} of="keys" id={rest}>
      {(key, reload) => <KeyDetail entry={key} reload={reload} />}
    </Detail>
  );
}

/** A client with a wrong key is found here by its time, its path and its name. */
function WithoutKey() {
  return (
    <>
      <BackLink to="keys" />
      <ViewHead title="Without a known key" />
      <RequestCards keyId="none" />
    </>
  );
}

/** All keys, with their use of the limits, which is updated every few seconds. */
function KeyList({ query }: { readonly query: URLSearchParams }) {
  const source = usePolled<readonly Key[]>("/keys");
  const use = query.get("new");
  const isCreating = useSignal(use !== null);
  const close = () => {
    isCreating.value = false;
    if (use !== null) navigate("/keys", { replace: true });
  };
  return (
    <>
      <ViewHead title="Keys">
        <div class="row">
          <LinkButton to="/keys/none">Without a key…</LinkButton>
          <Button kind="primary" icon="plus" onClick={() => (isCreating.value = true)}>
            New key
          </Button>
        </div>
      </ViewHead>
      <WhenLoaded source={source}>
        {(keys) => <FilteredKeys keys={keys} query={query} />}
      </WhenLoaded>
      {isCreating.value && (
        <CreateKey use={use} close={close} created={() => void source.reload()} />
      )}
    </>
  );
}

const states = choicesOf({ active: "In use", all: "All" });
const kinds = choicesOf({ any: "Both kinds", api: "API", operator: "Operator" });

function FilteredKeys(props: { readonly keys: readonly Key[]; readonly query: URLSearchParams }) {
  const { keys, query } = props;
  const search = useSignal("");
  const show = query.get("show") === "all" ? "all" : "active";
  const kind = kinds.find(([name]) => name === query.get("kind"))?.[0] ?? "any";
  const wanted = search.value.trim().toLowerCase();
  const shown = keys.filter(
    (key) =>
      (show === "all" || isUsable(key)) &&
      (kind === "any" || key.kind === kind) &&
      (key.name.toLowerCase().includes(wanted) || key.id.toLowerCase().includes(wanted)),
  );
  const choose = (name: string, value: string) => {
    const next = new URLSearchParams(query);
    next.set(name, value);
    navigate(`/keys?${next}`, { replace: true });
  };
  const showAll = () => {
    search.value = "";
    navigate("/keys?show=all", { replace: true });
  };
  return (
    <>
      <div class="row filters">
        <SearchField label="Search by name or id" text={search} />
        <ButtonGroup
          label="State"
          choices={states}
          isChosen={(one) => one === show}
          choose={(to) => choose("show", to)}
        />
        <ButtonGroup
          label="Kind"
          choices={kinds}
          isChosen={(one) => one === kind}
          choose={(to) => choose("kind", to)}
        />
        <span class="spacer" />
        <span class="muted small">
          {shown.length === keys.length
            ? countOf(keys.length, "key")
            : `${shown.length} of ${countOf(keys.length, "key")}`}
        </span>
      </div>
      {shown.length > 0 ? (
        <Table rows={shown} keyOf={({ id }) => id} columns={keyColumns} />
      ) : (
        <Empty title="No key matches">
          <p>Clients need an API key. Choose “New key” to create one, or show all keys.</p>
          <Button onClick={showAll}>Show all keys</Button>
        </Empty>
      )}
    </>
  );
}

interface CreateProps {
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
function CreateKey({ close, created, use }: CreateProps) {
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
