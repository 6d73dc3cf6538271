import { roleScopes } from "../../../domain/keys/keys.ts";
import { describeOperations } from "../../api/contract/description.ts";
import { errors } from "../../api/contract/errors.ts";
import { commonHeaders } from "../../api/contract/headers.ts";
import { withSharedParts } from "../../api/contract/shared-parts.ts";
import { missingOperatorKey } from "../../messages/error-messages.ts";
import { createFile, onFirstRequest } from "../../pages/files.ts";
import type { Pages } from "../../pages/pages.ts";
import { type AdminOperation, adminTags } from "../admin-declaration.ts";
import { adminBasePath, adminSchemas } from "../operations.ts";

/** The introduction of the operator API's description. */
const adminOverview = `This API is for the people who run the store. The console at \`/console\` uses it. Clients of the store use the API under \`/v1\`.

## Authentication

Send an operator key in the header \`Authorization: Bearer <OPERATOR_KEY>\`. \`petstore keys create --operator --name NAME\` creates one. Operator keys start with \`pso_live_\` or \`pso_test_\`. An API key is not accepted here, and an operator key is not accepted under \`/v1\`.

A browser signs in with \`POST /session\` and is then authenticated by a cookie. A request that changes something with the cookie must come from a page of this service: \`Sec-Fetch-Site\` must be \`same-origin\`, and \`Origin\` must match \`Host\`. Otherwise the response is 403.

Each operator key has a role. A \`viewer\` reads: the stock, its changes, pets, orders and the audit log. A \`clerk\` also changes stock and pets, and imports files. An \`owner\` can do everything. Only owners see keys, webhooks and backups. The response to a request that the role does not allow is 403, and \`message\` names the roles that can send it. Each operation names its least role as the scope \`operator:viewer\`, \`operator:clerk\` or \`operator\`, the owner's.

## Rate limits

Every operator key can send 3,000 requests per minute and 1,000,000 per day. Requests without valid credentials are limited by the address of the client, to 30 per minute unless the service is configured differently.

## Records

Every change to stock is a row of the ledger. Everything else that operators change is a row of the audit log, with the ID of the operator key and of the request. Rows of both are never changed or removed.

## Stability

All operations are \`beta\`: they can change with a notice in the changelog. Every response has \`Cache-Control: no-store\`.
`;

const afterUpdate =
  "The change may have been stored. Check that before you send it again. If the operation takes an `Idempotency-Key` and you sent one, it is never applied twice.";

/** Generates the description of the operator API from its table of operations. */
export function describeAdminApi(operations: readonly AdminOperation[]) {
  const described = describeOperations(
    {
      title: "Pet Store Inventory: operator API",
      version: "1.0.0",
      summary: "Run the store.",
      overview: adminOverview,
      tags: adminTags.filter(({ name }) => operations.some(({ tag }) => tag === name)),
      securitySchemes: {
        operatorKey: { type: "http", scheme: "bearer", description: "An operator key." },
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
            "Missing or invalid operator key, or the session has ended. `message` names a mistake that the key itself shows, such as a typing error or an API key in place of an operator key. The response is the same for an unknown, an expired and a revoked key.",
          examples: { unauthorized: missingOperatorKey },
        },
        insufficient_scope: {
          headers: ["RoleChallenge"],
          description:
            "The role of the operator key does not allow this operation. Nothing was changed. `message` names the roles that do.",
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
      commonErrors: ({ method, scope }) => [
        "unauthorized",
        ...(scope === roleScopes.viewer ? [] : (["insufficient_scope"] as const)),
        ...(method === "GET" ? [] : (["cross_origin"] as const)),
        "rate_limit_exceeded",
        "key_banned",
        "internal_error",
        "unavailable",
      ],
    },
    operations,
    [{ url: adminBasePath, description: "This service." }],
  );
  return withSharedParts(described);
}

/** Serves the description of the operator API. It contains no secrets and requires no key. */
export function adminPages(operations: readonly AdminOperation[]): Pages {
  const headers = { "Content-Type": "application/json", "X-Content-Type-Options": "nosniff" };
  const page = onFirstRequest(() =>
    createFile(JSON.stringify(describeAdminApi(operations)), headers),
  );
  return { [`${adminBasePath}/openapi.json`]: page };
}
