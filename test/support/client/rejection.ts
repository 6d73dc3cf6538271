import { inspect } from "node:util";

/** Returns the reason with which the work rejects. Throws if it succeeds. */
export async function rejectionOf(work: Promise<unknown>): Promise<unknown> {
  let value: unknown;
  try {
    value = await work;
  } catch (reason) {
    return reason;
  }
  throw new Error(`expected a rejection, but got ${inspect(value)}`);
}
