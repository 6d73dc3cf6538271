import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { messageOf, requestPage } from "../client/api.ts";
import type { AuditRow } from "../client/types.ts";
import { navigate } from "../page/router.ts";
import type { ViewProps } from "../parts/view.ts";
import { AuditFilters, useKnown } from "./filters.tsx";
import { AuditRows } from "./rows.tsx";

const filterNames = ["action", "keyId", "target"] as const;

/** /audit?action=…&keyId=…&target=… shows who changed what, the newest first. */
export default function AuditView({ query }: ViewProps) {
  const known = useKnown();
  const filter = new URLSearchParams();
  for (const name of filterNames) {
    const value = query.get(name);
    if (value) filter.set(name, value);
  }
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
      <Pages key={String(filter)} filter={filter} names={known.names} />
    </>
  );
}

interface PagesProps {
  readonly filter: URLSearchParams;
  readonly names: ReadonlyMap<string, string>;
}

interface PagesState {
  readonly rows: readonly AuditRow[];
  /** The path of the next page. Undefined at the end. */
  readonly next: string | undefined;
  readonly isLoading: boolean;
  readonly error: string;
}

function Pages({ filter, names }: PagesProps) {
  const first = `/audit?limit=100${filter.size > 0 ? `&${filter}` : ""}`;
  const state = useSignal<PagesState>({ rows: [], next: first, isLoading: true, error: "" });
  const load = async (signal?: AbortSignal) => {
    const { rows, next } = state.peek();
    state.value = { rows, next, isLoading: true, error: "" };
    try {
      const page = await requestPage<AuditRow>(next!, signal);
      state.value = {
        rows: [...rows, ...page.items],
        next: page.next,
        isLoading: false,
        error: "",
      };
    } catch (error) {
      if (signal?.aborted) return;
      state.value = { rows, next, isLoading: false, error: messageOf(error) };
    }
  };
  useEffect(() => {
    const leaving = new AbortController();
    void load(leaving.signal);
    return () => leaving.abort();
  }, []);
  const { rows, next, isLoading, error } = state.value;
  const isEmpty = rows.length === 0 && next === undefined;
  return (
    <>
      {rows.length > 0 && <AuditRows rows={rows} names={names} />}
      {isEmpty && <NoRows isFiltered={filter.size > 0} />}
      {error !== "" && (
        <div class="empty" role="alert">
          <h2>The log could not be loaded</h2>
          <p>{error}</p>
        </div>
      )}
      {rows.length === 0 && isLoading && <p class="loading">Loading…</p>}
      {next && !(rows.length === 0 && isLoading) && (
        <p class="audit-more">
          <button type="button" class="button" disabled={isLoading} onClick={() => void load()}>
            {error === "" ? (isLoading ? "Loading…" : "Show older") : "Try again"}
          </button>
        </p>
      )}
    </>
  );
}

function NoRows({ isFiltered }: { readonly isFiltered: boolean }) {
  if (!isFiltered) {
    return (
      <div class="empty">
        <h2>Nothing has been changed yet</h2>
        <p>Create a key or a webhook, and it appears here.</p>
      </div>
    );
  }
  return (
    <div class="empty">
      <h2>Nothing matches</h2>
      <p>No row of the log matches all filters.</p>
      <button type="button" class="button" onClick={() => navigate("/audit", { replace: true })}>
        Show everything
      </button>
    </div>
  );
}
