import { useEffect, useRef } from "preact/hooks";
import { ApiError } from "../client/api.ts";
import { type LoadedSource, useLoaded } from "./loaded.tsx";

interface Known<T> {
  readonly inputs: readonly unknown[];
  readonly value: T;
}

/**
 * Loads data again and again while somebody sees the page. If that fails, the last data stays: the frame
 * shows that the connection is lost.
 */
export function usePolled<T>(
  load: (signal: AbortSignal) => Promise<T>,
  inputs: readonly unknown[] = [],
  everyMs = 5_000,
): LoadedSource<T> {
  const last = useRef<Known<T> | undefined>(undefined);
  const source = useLoaded(async (signal) => {
    try {
      const value = await load(signal);
      last.current = { inputs, value };
      return value;
    } catch (error) {
      const known = last.current;
      const isSame = known?.inputs.every((input, index) => input === inputs[index]);
      const isGone = error instanceof ApiError && error.status === 404;
      if (known && isSame && !isGone) return known.value;
      throw error;
    }
  }, inputs);
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
  }, inputs);
  return source;
}
