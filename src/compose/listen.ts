import { ServiceError } from "../domain/errors.ts";

/** Opens a listener. An address that cannot be used is the operator's mistake, not a bug. */
export function listen<T>(host: string, port: number, start: () => T): T {
  try {
    return start();
  } catch (error) {
    if (error instanceof ServiceError) throw error;
    const reason = (error as Error).message;
    throw new ServiceError("unavailable", `cannot listen on ${host}:${port}: ${reason}`);
  }
}
