import type { LedgerTail } from "../domain/ledger/tail.ts";
import { monotonicMs } from "../domain/running/background.ts";
import { startDeliveries } from "../domain/webhooks/deliveries.ts";
import type { Engine } from "../opening/engines.ts";
import { userAgent } from "../version.ts";
import { createWebhookSender } from "../webhooks/sender.ts";
import type { Metrics } from "./metrics.ts";
import type { ServiceOptions } from "./options.ts";

export function openDeliveries(
  { config, clock, log }: ServiceOptions,
  { store, isShared }: Engine,
  tail: LedgerTail,
  metrics: Metrics | undefined,
) {
  const { timeoutMs, leaseMs, leaseLeftMinMs, renewEveryMs, renewLocallyEveryMs } = config.webhooks;
  const sender = createWebhookSender({ ...config, timeoutMs, now: clock.now });
  return startDeliveries({
    store,
    tail,
    lowStockAt: config.lowStockAt,
    sender: {
      async send(...attempt) {
        const answer = await sender.send(...attempt);
        metrics?.webhookAnswered(answer.status);
        return answer;
      },
    },
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
