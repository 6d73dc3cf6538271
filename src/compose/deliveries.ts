import type { LedgerTail } from "../domain/ledger/tail.ts";
import { monotonicMs } from "../domain/running/background.ts";
import { type Deliveries, startDeliveries } from "../domain/webhooks/deliveries.ts";
import type { WebhookSender } from "../domain/webhooks/sender.ts";
import type { Engine } from "../engines.ts";
import { userAgent } from "../version.ts";
import { createWebhookSender } from "../webhooks/sender.ts";
import type { Metrics } from "./metrics.ts";
import type { ServiceOptions } from "./options.ts";

/** Makes what sends all messages of webhooks, and counts the attempts. */
export function openSender(
  { config, clock }: ServiceOptions,
  metrics: Metrics | undefined,
): Pick<WebhookSender, "send"> {
  const sender = createWebhookSender({
    allowInsecure: config.webhooksAllowInsecure,
    allowedNetworks: config.webhooksAllowedNetworks,
    timeoutMs: config.webhooks.timeoutMs,
    now: clock.now,
  });
  return {
    async send(...attempt) {
      const answer = await sender.send(...attempt);
      metrics?.webhookAnswered(answer.status);
      return answer;
    },
  };
}

export function openDeliveries(
  { config, clock, log }: ServiceOptions,
  { store, isShared }: Engine,
  tail: LedgerTail,
  sender: Pick<WebhookSender, "send">,
): Deliveries {
  const { leaseMs, leaseLeftMinMs, renewEveryMs, renewLocallyEveryMs } = config.webhooks;
  return startDeliveries({
    store,
    tail,
    lowStockAt: config.lowStockAt,
    sender,
    clock,
    monotonicMs,
    random: Math.random,
    log,
    userAgent: userAgent(),
    bounds: {
      leaseMs,
      leaseLeftMinMs,
      renewEveryMs: isShared ? renewEveryMs : renewLocallyEveryMs,
    },
  });
}
