import { useEffect, useRef } from "preact/hooks";
import { request } from "../client/api.ts";
import { may } from "../client/session.ts";
import { Select } from "../parts/choices.tsx";
import { useLoaded } from "../parts/loaded.tsx";
import { actionTexts } from "./actions.ts";

interface Named {
  readonly id: string;
  readonly name: string;
  readonly kind?: string;
}

/** The keys and webhooks that exist, as far as they are loaded. The log is readable without them. */
export interface Known {
  readonly operators: readonly Named[];
  readonly names: ReadonlyMap<string, string>;
}

export function useKnown(): Known {
  const source = useLoaded(async (signal) => {
    if (!may("owner")) return [];
    const list = (path: string) => request<readonly Named[]>(path, { signal });
    return (await Promise.all([list("/keys"), list("/webhooks")])).flat();
  });
  const state = source.state.value;
  const all = state.kind === "ready" ? state.value : [];
  return {
    operators: all.filter(({ kind }) => kind === "operator"),
    names: new Map(all.map(({ id, name }) => [id, name])),
  };
}

interface Props {
  readonly known: Known;
  readonly filter: URLSearchParams;
  readonly change: (name: "action" | "keyId" | "target", value: string) => void;
}

export function AuditFilters({ known: { operators }, filter, change }: Props) {
  const keyId = filter.get("keyId") ?? "";
  const isListed = keyId === "" || operators.some(({ id }) => id === keyId);
  return (
    <div class="row filters">
      <Select
        label="What was done"
        choices={[["", "All actions"], ...Object.entries(actionTexts)]}
        value={filter.get("action") ?? ""}
        choose={(action) => change("action", action)}
      />
      <Select
        label="Operator"
        class="operator-filter"
        choices={[
          ["", "All operators"],
          ...(isListed ? [] : [[keyId, keyId] as const]),
          ...operators.map(({ id, name }) => [id, name] as const),
        ]}
        value={keyId}
        choose={(id) => change("keyId", id)}
      />
      <TargetField value={filter.get("target") ?? ""} change={(value) => change("target", value)} />
    </div>
  );
}

/** The filter is applied with Enter, or when the field is left. */
function TargetField(props: { readonly value: string; readonly change: (value: string) => void }) {
  const { value, change } = props;
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => {
    field.current!.value = value;
  }, [value]);
  return (
    <input
      ref={field}
      class="input mono target-filter"
      type="search"
      aria-label="Id of a key, a webhook or a pet"
      placeholder="Id of a key, webhook or pet"
      autocomplete="off"
      spellcheck={false}
      onChange={(event) => change(event.currentTarget.value.trim())}
    />
  );
}
