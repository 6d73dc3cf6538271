import type { Context } from "./context.ts";
import type { Call } from "./operation.ts";

/**
 * Keeps the silent connection of a request open until it is disposed of. Only an operation that is declared
 * as long may: a proxy that does not wait for it would respond with 504, although the work is done.
 */
export function keepOpen(
  { admin }: Pick<Context, "admin">,
  { operation, connections, request }: Call,
): Disposable {
  if (!operation.isLong) throw new Error(`the operation ${operation.id} is not declared as long`);
  connections.setIdleTimeout(request, 0);
  const end = () => connections.setIdleTimeout(request, admin.idleTimeoutSeconds);
  return { [Symbol.dispose]: end };
}
