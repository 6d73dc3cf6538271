import type { Clock } from "../domain/ports.ts";
import type { Engine } from "../engines.ts";
import type { AdminParts } from "../http/admin/parts.ts";
import { packageVersion } from "../version.ts";
import { createWebhookSender } from "../webhooks/sender.ts";
import type { ServiceOptions } from "./options.ts";

/** Makes what only the operator API uses. */
export function openAdmin(
  { config, clock }: Pick<ServiceOptions, "config"> & { readonly clock: Clock },
  { name: engine, schema, limiter }: Pick<Engine, "name" | "schema" | "limiter">,
  isReady: () => Promise<boolean>,
  { backups, imports }: Pick<AdminParts, "backups" | "imports">,
): AdminParts {
  const { environment, importBytesMax, idleTimeoutSeconds } = config;
  return {
    facts: { version: packageVersion(), environment, engine, schema, startedAt: clock.now() },
    isReady,
    findUsage: limiter.findUsage,
    imports,
    backups,
    webhookUrls: createWebhookSender({
      allowInsecure: config.webhooksAllowInsecure,
      allowedNetworks: config.webhooksAllowedNetworks,
      // Sooner than a silent connection is closed.
      timeoutMs: 5_000,
    }),
    importBytesMax,
    idleTimeoutSeconds,
  };
}
