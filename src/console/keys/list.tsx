import { useSignal } from "@preact/signals";
import { request } from "../client/api.ts";
import type { Key } from "../client/types.ts";
import { navigate } from "../page/router.ts";
import { Icon } from "../parts/icon.tsx";
import { WhenLoaded } from "../parts/loaded.tsx";
import { usePolled } from "../parts/polled.ts";
import { countOf } from "../texts/numbers.ts";
import { CreateKey } from "./create-key.tsx";
import { KeyTable } from "./key-table.tsx";

/** All keys, with their use of the limits, which is updated every few seconds. */
export function KeyList({ query }: { readonly query: URLSearchParams }) {
  const source = usePolled((signal) => request<readonly Key[]>("/keys", { signal }));
  const isCreating = useSignal(false);
  return (
    <>
      <div class="spread view-head">
        <h1 class="view-title">Keys</h1>
        <button type="button" class="button primary" onClick={() => (isCreating.value = true)}>
          <Icon name="plus" />
          New key
        </button>
      </div>
      <WhenLoaded source={source}>
        {(keys) => <FilteredKeys keys={keys} query={query} />}
      </WhenLoaded>
      {isCreating.value && (
        <CreateKey
          close={() => {
            isCreating.value = false;
          }}
          created={() => void source.reload()}
        />
      )}
    </>
  );
}

const states = [
  ["active", "In use"],
  ["all", "All"],
] as const;
const kinds = [
  ["any", "Both kinds"],
  ["api", "API"],
  ["operator", "Operator"],
] as const;

function FilteredKeys(props: { readonly keys: readonly Key[]; readonly query: URLSearchParams }) {
  const { keys, query } = props;
  const search = useSignal("");
  const show = query.get("show") === "all" ? "all" : "active";
  const kind = kinds.find(([name]) => name === query.get("kind"))?.[0] ?? "any";
  const wanted = search.value.trim().toLowerCase();
  const shown = keys.filter(
    (key) =>
      (show === "all" || key.state === "active" || key.state === "banned") &&
      (kind === "any" || key.kind === kind) &&
      (key.name.toLowerCase().includes(wanted) || key.id.toLowerCase().includes(wanted)),
  );
  const choose = (name: string, value: string) => {
    const next = new URLSearchParams(query);
    next.set(name, value);
    navigate(`/keys?${next}`, { replace: true });
  };
  return (
    <>
      <div class="filters">
        <input
          class="input key-search"
          type="search"
          placeholder="Search by name or id"
          aria-label="Search by name or id"
          autocomplete="off"
          spellcheck={false}
          value={search.value}
          onInput={(event) => {
            search.value = event.currentTarget.value;
          }}
        />
        <Choice label="State" choices={states} value={show} choose={(to) => choose("show", to)} />
        <Choice label="Kind" choices={kinds} value={kind} choose={(to) => choose("kind", to)} />
        <span class="spacer" />
        <span class="muted small">
          {shown.length === keys.length
            ? countOf(keys.length, "key")
            : `${shown.length} of ${countOf(keys.length, "key")}`}
        </span>
      </div>
      {shown.length > 0 ? (
        <KeyTable keys={shown} />
      ) : (
        <NoKeys
          showAll={() => {
            search.value = "";
            navigate("/keys?show=all", { replace: true });
          }}
        />
      )}
    </>
  );
}

interface ChoiceProps {
  readonly label: string;
  readonly choices: readonly (readonly [value: string, text: string])[];
  readonly value: string;
  readonly choose: (value: string) => void;
}

function Choice({ label, choices, value, choose }: ChoiceProps) {
  return (
    <fieldset class="button-group" aria-label={label}>
      {choices.map(([name, text]) => (
        <button
          type="button"
          key={name}
          class="button small"
          aria-pressed={name === value}
          onClick={() => choose(name)}
        >
          {text}
        </button>
      ))}
    </fieldset>
  );
}

function NoKeys({ showAll }: { readonly showAll: () => void }) {
  return (
    <div class="empty">
      <h2>No key matches</h2>
      <p>Clients need an API key. Choose “New key” to create one, or show all keys.</p>
      <button type="button" class="button" onClick={showAll}>
        Show all keys
      </button>
    </div>
  );
}
