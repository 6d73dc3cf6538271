import { computed, signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { listen } from "../client/live.ts";
import type { Service } from "../client/types.ts";
import type { LoadedSource } from "./loaded.tsx";
import { usePolled } from "./polled.ts";

/** The state of the service, for all views. Undefined before somebody has signed in. */
export const service = signal<LoadedSource<Service> | undefined>(undefined);

/** Undefined until it is loaded. */
export const facts = computed(() => {
  const state = service.value?.state.value;
  return state?.kind === "ready" ? state.value : undefined;
});

const pollMs = 15_000;
/** After a change, the state is loaded again, but not more often than this. */
const reloadMsMin = 2_000;

/** Keeps the state of the service up to date while the component is there. */
export function useService(): void {
  const source = usePolled<Service>("/service", pollMs);
  useEffect(() => {
    service.value = source;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const reloadSoon = () => {
      timer ??= setTimeout(() => {
        timer = undefined;
        void source.reload();
      }, reloadMsMin);
    };
    const stop = listen({ rows: reloadSoon, reset: reloadSoon });
    return () => {
      stop();
      clearTimeout(timer);
      service.value = undefined;
    };
  }, []);
}
