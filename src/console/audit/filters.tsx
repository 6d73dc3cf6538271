import { useEffect, useRef } from "preact/hooks";
import { request } from "../api.ts";
import { useLoaded } from "../parts/loaded.tsx";
import { actionTexts } from "./actions.ts";

interface Operator {
  readonly id: string;
  readonly name: string;
  readonly kind: string;
}

interface Props {
  readonly filter: URLSearchParams;
  readonly change: (name: "action" | "keyId" | "target", value: string) => void;
}

export function AuditFilters({ filter, change }: Props) {
  const source = useLoaded((signal) => request<readonly Operator[]>("/keys", { signal }));
  const state = source.state.value;
  const operators = state.kind === "ready" ? state.value.filter(isOperator) : [];
  const keyId = filter.get("keyId") ?? "";
  const isListed = keyId === "" || operators.some(({ id }) => id === keyId);
  return (
    <div class="filters">
      <select
        class="select"
        aria-label="What was done"
        value={filter.get("action") ?? ""}
        onChange={(event) => change("action", event.currentTarget.value)}
      >
        <option value="">All actions</option>
        {Object.entries(actionTexts).map(([action, text]) => (
          <option key={action} value={action}>
            {text}
          </option>
        ))}
      </select>
      <select
        class="select operator-filter"
        aria-label="Operator"
        value={keyId}
        onChange={(event) => change("keyId", event.currentTarget.value)}
      >
        <option value="">All operators</option>
        {!isListed && <option value={keyId}>{keyId}</option>}
        {operators.map(({ id, name }) => (
          <option key={id} value={id}>
            {name}
          </option>
        ))}
      </select>
      <TargetField value={filter.get("target") ?? ""} change={(value) => change("target", value)} />
    </div>
  );
}

function isOperator({ kind }: Operator): boolean {
  return kind === "operator";
}

/** The filter is applied with Enter, or when the field is left. */
function TargetField(props: { readonly value: string; readonly change: (value: string) => void }) {
  const { value, change } = props;
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => {
    field.current!.value = value;
  }, [value]);
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        change(field.current!.value.trim());
      }}
    >
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
    </form>
  );
}
