import { int64Max, int64Min } from "../../src/domain/values/int64.ts";
import type { Webhook } from "../../src/domain/webhooks/webhook.ts";
import { testStart } from "./clock.ts";

/** An active webhook that has delivered nothing. */
export function webhookNamed(id: string, given: Partial<Webhook> = {}): Webhook {
  return {
    id,
    name: `The webhook ${id}`,
    url: `https://example.com/${id}`,
    filter: { pets: null, statuses: null, causes: null, below: null, becomesLow: false },
    secrets: { current: `whsec_${btoa(id)}`, previous: null, previousExpiresAt: null },
    createdAt: testStart,
    state: "active",
    stateReason: null,
    version: 1,
    replays: 0,
    cursor: { epoch: "first", seq: 0 },
    failures: 0,
    failingSince: null,
    nextAttemptAt: 0,
    ...given,
  };
}

/** A webhook with a value in every field, and with text that is easy to store wrongly. */
export const fullWebhook = webhookNamed("wh_full", {
  name: `Zoë's "till" | {🐢}, \\N\n`,
  url: 'https://example.com/a?b={"c"}&d=%20',
  filter: {
    pets: [int64Min, -1n, 9_007_199_254_740_993n, int64Max],
    statuses: ["pending", "sold"],
    causes: ["api", "import"],
    below: Number.MAX_SAFE_INTEGER,
    becomesLow: true,
  },
  secrets: {
    current: "whsec_bmV3+/==",
    previous: "whsec_b2xk",
    previousExpiresAt: testStart + 99_999_999_999,
  },
  createdAt: testStart + 1,
  state: "paused",
  stateReason: 'nothing but 500 since Monday, \\ "Täglich" 🐢',
  version: 7,
  replays: 3,
  cursor: { epoch: "epoch-ä", seq: Number.MAX_SAFE_INTEGER },
  failures: 12,
  failingSince: testStart + 2,
  nextAttemptAt: testStart + 3,
});
