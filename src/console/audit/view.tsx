import { useEffect, useRef } from "preact/hooks";
import { request } from "../client/api.ts";
import { may } from "../client/session.ts";
import type { AuditRow } from "../client/types.ts";
import { navigate } from "../page/router.ts";
import { Button } from "../parts/button.tsx";
import { Select } from "../parts/choices.tsx";
import { Empty, useLoaded } from "../parts/loaded.tsx";
import { Pages } from "../parts/pages.tsx";
import type { ViewProps } from "../parts/view.tsx";
import { actionTexts } from "./actions.ts";
import { AuditRows } from "./rows.tsx";

const filterNames = ["action", "keyId", "target"];

/** /audit?action=…&keyId=…&target=… shows who changed what, the newest first. */
export default function AuditView({ query }: ViewProps) {
  const known = useKnown();
  const filter = new URLSearchParams();
  for (const name of filterNames) if (query.get(name)) filter.set(name, query.get(name)!);
  return (
    <>
      <div class="view-head">
        <h1 class="view-title">Audit log</h1>
        <p class="muted">
          Every change to keys, webhooks, pets and orders, every sign-in and every backup. Changes
          to stock are under Activity.
        </p>
      </div>
      <AuditFilters
        known={known}
        filter={filter}
        change={(name, value) => {
          if (value === "") filter.delete(name);
          else filter.set(name, value);
          navigate(`/audit${filter.size > 0 ? `?${filter}` : ""}`, { replace: true });
        }}
      />
      <Pages<AuditRow>
        key={String(filter)}
        path={`/audit?limit=100${filter.size > 0 ? `&${filter}` : ""}`}
        failedTitle="The log could not be loaded"
        moreText="Show older"
        empty={<NoRows isFiltered={filter.size > 0} />}
      >
        {(rows) => <AuditRows rows={rows} names={known.names} />}
      </Pages>
    </>
  );
}

function NoRows({ isFiltered }: { readonly isFiltered: boolean }) {
  if (!isFiltered) {
    return (
      <Empty title="Nothing has been changed yet">
        <p>Create a key or a webhook, and it appears here.</p>
      </Empty>
    );
  }
  return (
    <Empty title="Nothing matches">
      <p>No row of the log matches all filters.</p>
      <Button onClick={() => navigate("/audit", { replace: true })}>Show everything</Button>
    </Empty>
  );
}

interface Named {
  readonly id: string;
  readonly name: string;
  readonly kind?: string;
}

/** The keys and webhooks that exist, as far as they are loaded. The log is readable without them. */
interface Known {
  readonly operators: readonly Named[];
  readonly names: ReadonlyMap<string, string>;
}

function useKnown(): Known {
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

interface FilterProps {
  readonly known: Known;
  readonly filter: URLSearchParams;
  readonly change: (name: "action" | "keyId" | "target", value: string) => void;
}

function AuditFilters({ known: { operators }, filter, change }: FilterProps) {
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
