import { type Signal, useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";

/** The current time, once a second, for what counts down or grows older on the page. */
export function useNow(everyMs = 1_000): Signal<number> {
  const now = useSignal(Date.now());
  useEffect(() => {
    const timer = setInterval(() => {
      now.value = Date.now();
    }, everyMs);
    return () => clearInterval(timer);
  }, [now, everyMs]);
  return now;
}
