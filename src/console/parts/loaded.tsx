import { type Signal, useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect } from "preact/hooks";
import { messageOf } from "../client/api.ts";
import { capitalized } from "../texts/formats.ts";
import { NotLoaded } from "./empty.tsx";

/** Something that the page loads. */
export type Loaded<T> =
  | { readonly kind: "loading" }
  | { readonly kind: "failed"; readonly message: string }
  | { readonly kind: "ready"; readonly value: T };

export interface LoadedSource<T> {
  readonly state: Signal<Loaded<T>>;
  /** Loads again. What is shown stays until the new data is there. */
  readonly reload: () => Promise<void>;
}

/** Loads data when the component appears, and again when one of `inputs` changes. */
export function useLoaded<T>(
  load: (signal: AbortSignal) => Promise<T>,
  inputs: readonly unknown[] = [],
): LoadedSource<T> {
  const state = useSignal<Loaded<T>>({ kind: "loading" });
  const current = useSignal<AbortController | undefined>(undefined);
  const reload = async () => {
    current.peek()?.abort();
    const leaving = new AbortController();
    current.value = leaving;
    try {
      const value = await load(leaving.signal);
      if (!leaving.signal.aborted) state.value = { kind: "ready", value };
    } catch (error) {
      if (leaving.signal.aborted) return;
      state.value = { kind: "failed", message: messageOf(error) };
    }
  };
  useEffect(() => {
    void reload();
    return () => current.peek()?.abort();
  }, inputs);
  return { state, reload };
}

interface Props<T> {
  readonly source: LoadedSource<T>;
  readonly children: (value: T) => ComponentChildren;
  /** The name of the data, for example "the changes". */
  readonly what?: string;
}

/** Shows the data, or that it is being loaded, or why it could not be loaded. */
export function WhenLoaded<T>({ source, children, what = "" }: Props<T>) {
  const state = source.state.value;
  if (state.kind === "ready") return <>{children(state.value)}</>;
  if (state.kind === "loading") return <p class="loading">{`Loading ${what}`.trim()}…</p>;
  const title = `${capitalized(what || "this")} could not be loaded`;
  return <NotLoaded title={title} message={state.message} retry={() => void source.reload()} />;
}
