import type { Store } from "../domain/store.ts";
import { createChangeCounts } from "../domain/usage/change-counts.ts";
import { createSendMessage } from "../domain/webhooks/requested-messages.ts";
import type { AdminParts } from "../http/pipeline/context.ts";
import { createPlaces } from "../http/snapshots/places.ts";
import type { Certificate } from "../http/tls/certificate.ts";
import type { Engine } from "../opening/engines.ts";
import { schemaNumber } from "../store/schema.ts";
import { packageVersion, userAgent } from "../version.ts";
import { createWebhookSender } from "../webhooks/sender.ts";
import type { ServiceOptions } from "./options.ts";

/** Files that arrive at the same time. A key can send half of them. */
const uploadsMax = 8;
/** Imports and undos that wait while two are made. */
const workWaitingMax = 8;

/** Makes what only the operator API uses. */
export function openAdmin(
  { config, clock }: ServiceOptions,
  store: Store,
  { name: engine, limiter, lostRows }: Pick<Engine, "name" | "limiter" | "lostRows">,
  certificate: Pick<Certificate, "expiresAt"> | undefined,
  isReady: () => Promise<boolean>,
  { backups, work, usage, stopping }: Pick<AdminParts, "backups" | "work" | "usage" | "stopping">,
): AdminParts {
  const { environment, importBytesMax, idleTimeoutSeconds, lowStockAt } = config;
  const sender = createWebhookSender({ ...config, timeoutMs: config.webhooks.timeoutMs });
  return {
    facts: {
      version: packageVersion(),
      environment,
      lowStockAt: lowStockAt ?? null,
      engine,
      schema: schemaNumber,
      startedAt: clock.now(),
    },
    isReady,
    lostRows,
    usage,
    findUsage: limiter.findUsage,
    changeCounts: createChangeCounts(store),
    certificateExpiresAt: () => certificate?.expiresAt,
    work,
    places: { uploads: createPlaces(uploadsMax, 0), work: createPlaces(2, workWaitingMax) },
    stopping,
    backups,
    // Sooner than a silent connection is closed.
    webhookUrls: createWebhookSender({ ...config, timeoutMs: 5_000 }),
    sendMessage: createSendMessage({ store, sender, lowStockAt, userAgent: userAgent() }),
    importBytesMax,
    idleTimeoutSeconds,
  };
}
