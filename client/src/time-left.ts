import type { CallOptions } from "./options.js";
import { resolveBudget, type Settings } from "./settings.js";

/** The time of a call that consists of several requests. Together they take no longer than one. */
export interface TimeLeft {
  isOver(): boolean;
  /** The options for the next request: `retryForMs` is what the earlier ones left. */
  options<T extends CallOptions>(options: T): T;
}

export function trackTimeLeft(settings: Settings, { retryForMs }: CallOptions): TimeLeft {
  const { clock } = settings;
  const endMs = clock.now() + resolveBudget({ retryForMs }, settings).retryForMs;
  return {
    isOver: () => clock.now() > endMs,
    options: (options) => ({ ...options, retryForMs: Math.max(0, endMs - clock.now()) }),
  };
}
