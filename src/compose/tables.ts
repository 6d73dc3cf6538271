import { createKeyring, createSessionKeyring } from "../domain/keys/keyring.ts";
import type { HeadWatcher } from "../domain/ledger/head.ts";
import type { Store } from "../domain/store.ts";
import { createOperatorAuthenticator } from "../http/admin/authentication.ts";
import { createFailedSignIns } from "../http/admin/failed-sign-ins.ts";
import { adminBasePath, adminHeaders, adminOperations } from "../http/admin/operations.ts";
import { apiBasePath, apiOperations } from "../http/api/operations.ts";
import { mcpOperation } from "../http/mcp/operations.ts";
import { createKeyAuthenticator } from "../http/pipeline/authentication.ts";
import type { Surface } from "../http/pipeline/surface.ts";
import { createAddressLimiter } from "../limits/addresses.ts";
import type { ServiceOptions } from "./options.ts";

/** A surface without its authentication, which needs a store. */
export type Table = Omit<Surface, "authenticator">;

/** The surfaces of every service. Tests add others. */
export function createTables({ config, clock }: Pick<ServiceOptions, "config" | "clock">) {
  return {
    api: { basePath: apiBasePath, operations: apiOperations(config) },
    admin: {
      name: "admin",
      basePath: adminBasePath,
      operations: adminOperations(config),
      headers: adminHeaders,
      // Separate from the limiter of the API, and lower: these are attempts to sign in.
      addresses: createAddressLimiter(clock, config.signInPerMinute, config.addressesMax),
      isSameOriginOnly: true,
    },
    /** Empty unless assistants are served. */
    mcp: config.mcp ? [{ name: "mcp", basePath: "/mcp", operations: [mcpOperation(config)] }] : [],
  };
}

/** Adds authentication to the surfaces. `opened` closes what it needs. */
export function authenticate(
  { api, admin, mcp }: ReturnType<typeof createTables>,
  { config, clock, log }: ServiceOptions,
  store: Store,
  head: HeadWatcher,
  opened: AsyncDisposableStack,
): readonly Surface[] {
  const { environment, keysCachedMax: max } = config;
  const keys = createKeyring(store.keys, clock, environment, max);
  const operatorKeys = createKeyring(store.keys, clock, environment, max, "operator");
  const sessions = createSessionKeyring(store.sessions, clock, max);
  for (const { clear } of [keys, operatorKeys, sessions]) head.subscribe({ keysChanged: clear });
  const failedSignIns = createFailedSignIns(log);
  opened.defer(failedSignIns.stop);
  const authenticator = createKeyAuthenticator(keys, environment);
  return [
    { ...api, authenticator },
    ...mcp.map((table) => ({ ...table, authenticator })),
    {
      ...admin,
      refused: failedSignIns.count,
      authenticator: createOperatorAuthenticator(operatorKeys, sessions, environment),
    },
  ];
}
