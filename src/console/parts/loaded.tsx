import { type Signal, useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { ApiError, messageOf, request } from "../client/api.ts";
import { pause } from "../client/retries.ts";
import { capitalized } from "../texts/formats.ts";
import { Button } from "./button.tsx";

interface EmptyProps {
  readonly title: string;
  /** Why there is nothing, and what to do next. */
  readonly children?: ComponentChildren;
  /** True if it stands for a whole page. */
  readonly isPage?: boolean;
  /** True if screen readers say it at once. */
  readonly isAlert?: boolean;
}

/** Stands where a list has no rows, or where a page cannot be shown. */
export function Empty({ title, children, isPage = false, isAlert = false }: EmptyProps) {
  return (
    <div class="empty" role={isAlert ? "alert" : undefined}>
      {isPage ? <h1 class="view-title">{title}</h1> : <h2>{title}</h2>}
      {children}
    </div>
  );
}

interface OldProps {
  readonly children: ComponentChildren;
  readonly retry: () => unknown;
}

/** Says that the page shows an older state, and tries again. */
export function OldNotice({ children, retry }: OldProps) {
  return (
    <div class="notice warning connection-notice" role="status">
      <span>{children}</span>
      <Button isSmall onClick={retry}>
        Try now
      </Button>
    </div>
  );
}

interface NotLoadedProps {
  readonly title: string;
  readonly message: string;
  readonly retry: () => void;
}

/** Says why something could not be loaded. */
export function NotLoaded({ title, message, retry }: NotLoadedProps) {
  return (
    <Empty title={title} isAlert>
      <p>{message}</p>
      <Button kind="primary" onClick={retry}>
        Try again
      </Button>
    </Empty>
  );
}

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

/**
 * Loads data again and again while somebody sees the page. If that fails, the last data stays: the frame
 * shows that the connection is lost.
 */
export function usePolled<T>(path: string, everyMs = 5_000): LoadedSource<T> {
  const last = useRef<{ readonly path: string; readonly value: T } | undefined>(undefined);
  const source = useLoaded(
    async (signal) => {
      try {
        const value = await request<T>(path, { signal });
        last.current = { path, value };
        return value;
      } catch (error) {
        const { current: known } = last;
        const isGone = error instanceof ApiError && error.status === 404;
        if (known?.path === path && !isGone) return known.value;
        throw error;
      }
    },
    [path],
  );
  useEffect(() => {
    const leaving = new AbortController();
    const { signal } = leaving;
    const reloadIfSeen = async () => document.hidden || source.reload();
    const poll = async () => {
      for (;;) {
        // The next request waits for the end of this one, so that requests to a slow service do not pile up.
        await pause(everyMs, signal);
        await reloadIfSeen();
      }
    };
    document.addEventListener("visibilitychange", reloadIfSeen, { signal });
    poll().catch(() => undefined);
    return () => leaving.abort();
  }, [path]);
  return source;
}
