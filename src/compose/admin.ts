import type { Clock } from "../domain/ports.ts";
import type { Engine } from "../engines.ts";
import type { AdminParts } from "../http/admin/parts.ts";
import { packageVersion } from "../version.ts";
import type { ServiceOptions } from "./options.ts";

/** Makes what only the operator API uses. */
export function openAdmin(
  { config, clock }: Pick<ServiceOptions, "config"> & { readonly clock: Clock },
  { name: engine, schema, limiter }: Pick<Engine, "name" | "schema" | "limiter">,
  isReady: () => Promise<boolean>,
): AdminParts {
  const { environment } = config;
  return {
    facts: { version: packageVersion(), environment, engine, schema, startedAt: clock.now() },
    isReady,
    findUsage: limiter.findUsage,
  };
}
