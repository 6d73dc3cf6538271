import type { Config } from "../../../src/config.ts";

/** In the proportions of the real ones. */
export const trialBounds: Config["webhooks"] = {
  timeoutMs: 750,
  leaseMs: 1_500,
  leaseLeftMinMs: 1_000,
  renewEveryMs: 250,
  renewLocallyEveryMs: 250,
};
