import { describeOperations } from "../../api/contract/description.ts";
import { errors } from "../../api/contract/errors.ts";
import { commonHeaders } from "../../api/contract/headers.ts";
import { withSharedParts } from "../../api/contract/shared-parts.ts";
import { missingOperatorKey } from "../../messages/error-messages.ts";
import type { AdminOperation } from "../operation.ts";
import { adminBasePath } from "../operations.ts";
import { adminTags } from "./operation.ts";
import { adminOverview } from "./overview.ts";
import { adminSchemas } from "./schemas.ts";

const afterUpdate =
  "The change may have been stored. Check that before you send it again. With an `Idempotency-Key`, it is never applied twice.";

/** Generates the description of the operator API from its table of operations. */
export function describeAdminApi(operations: readonly AdminOperation[]) {
  const described = describeOperations(
    {
      title: "Pet Store Inventory: operator API",
      version: "1.0.0",
      summary: "Run the store.",
      overview: adminOverview,
      tags: adminTags.filter(({ name }) =>
        operations.some(({ contract }) => contract.tag === name),
      ),
      securitySchemes: {
        operatorKey: {
          type: "http",
          scheme: "bearer",
          description: "An operator key.",
        },
        session: {
          type: "apiKey",
          in: "cookie",
          name: "__Host-petstore_production",
          description:
            "The cookie of a session. In staging, its name ends in `staging`. Without TLS, it has no prefix.",
        },
      },
      schemas: adminSchemas,
      errors: {
        ...errors,
        unauthorized: {
          ...errors.unauthorized,
          description:
            "Missing or invalid operator key, or the session has ended. `message` names what the sent text shows by itself, such as an API key or a typing error. The response is the same for an unknown, an expired and a revoked key.",
          examples: { unauthorized: missingOperatorKey },
        },
        not_found: { description: "There is nothing with this ID." },
        version_conflict: {
          ...errors.version_conflict,
          description:
            "The entry is not in the state that the request expects. Nothing was changed. Read the entry, decide again and send a new request.",
        },
        internal_error: { ...errors.internal_error, afterUpdate },
        unavailable: { ...errors.unavailable, afterUpdate },
      },
      commonHeaders: [],
      onceHeaders: [
        ...commonHeaders,
        "X-Stability",
        "CacheNever",
        "X-Content-Type-Options",
        "Cross-Origin-Resource-Policy",
      ],
      commonErrors: ({ method }) => [
        "unauthorized",
        ...(method === "GET" ? [] : (["cross_origin"] as const)),
        "rate_limit_exceeded",
        "key_banned",
        "internal_error",
        "unavailable",
      ],
    },
    operations,
    { servers: [{ url: adminBasePath, description: "This service." }] },
  );
  return withSharedParts(described);
}
