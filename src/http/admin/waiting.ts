import type { Context } from "../pipeline/context.ts";
import type { Call } from "../pipeline/operation.ts";

/** Does work that may take longer than a connection may be silent. */
export async function whileWaiting<T>(
  { admin }: Context,
  { setIdleTimeout }: Call,
  work: () => Promise<T>,
): Promise<T> {
  setIdleTimeout(0);
  try {
    return await work();
  } finally {
    setIdleTimeout(admin.idleTimeoutSeconds);
  }
}
