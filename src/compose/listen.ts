import { ServiceError } from "../domain/errors.ts";
import type { MaybePromise } from "../domain/ports.ts";

/** Opens a listener. An address that cannot be used is the operator's mistake, not a bug. */
export async function listen<T>(
  host: string,
  port: number,
  start: () => MaybePromise<T>,
): Promise<T> {
  try {
    return await start();
  } catch (error) {
    if (error instanceof ServiceError) throw error;
    const reason = (error as Error).message;
    throw new ServiceError("unavailable", `cannot listen on ${host}:${port}: ${reason}`);
  }
}
