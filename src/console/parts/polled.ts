import { useEffect, useRef } from "preact/hooks";
import { ApiError, request } from "../client/api.ts";
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
    let timer: ReturnType<typeof setTimeout> | undefined;
    const next = () => {
      // The next request waits for the end of this one, so that a slow service is not asked faster.
      timer = setTimeout(() => {
        if (document.hidden) return next();
        void source.reload().finally(() => {
          if (timer !== undefined) next();
        });
      }, everyMs);
    };
    const showNow = () => {
      if (!document.hidden) void source.reload();
    };
    document.addEventListener("visibilitychange", showNow);
    next();
    return () => {
      clearTimeout(timer);
      timer = undefined;
      document.removeEventListener("visibilitychange", showNow);
    };
  }, [path]);
  return source;
}
