import { useEffect } from "preact/hooks";
import { listen } from "../client/live.ts";
import type { Service } from "../client/types.ts";
import { usePolled } from "../parts/loaded.tsx";
import { service } from "../parts/service.ts";

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
