import { computed, signal } from "@preact/signals";
import type { Service } from "../client/types.ts";
import type { LoadedSource } from "./loaded.tsx";

/** The state of the service, for all views. Undefined before somebody has signed in. */
export const service = signal<LoadedSource<Service> | undefined>(undefined);

/** Undefined until it is loaded. */
export const facts = computed(() => {
  const state = service.value?.state.value;
  return state?.kind === "ready" ? state.value : undefined;
});
