import { useEffect, useRef } from "preact/hooks";
import { ApiError, request } from "../client/api.ts";
import { pause } from "../client/retries.ts";
import { type LoadedSource, useLoaded } from "./loaded.tsx";

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
