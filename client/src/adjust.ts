import { retryDelayMs } from "./backoff.js";
import type { Transport } from "./call.js";
import type { InventoryEntry } from "./entry.js";
import type { Id } from "./id.js";
import { conflictFrom, getInventory, isPreconditionFailed, sendUpdate } from "./inventory.js";
import type { AdjustOptions } from "./options.js";
import type { WithResponse } from "./promise.js";
import { atLeast } from "./settings.js";
import { trackTimeLeft } from "./time-left.js";

/** Computes the new count from the current entry. May be called several times. */
export type ComputeQuantity = (current: InventoryEntry) => number | Promise<number>;

const neverAborted = new AbortController().signal;

export async function adjustInventory(
  transport: Transport,
  petId: Id,
  compute: ComputeQuantity,
  options: AdjustOptions,
): Promise<WithResponse<InventoryEntry>> {
  if (typeof compute !== "function") {
    throw new TypeError("Pass a function of the current entry: ({ quantity }) => quantity + 5");
  }
  const { backoff, clock } = transport.settings;
  const { signal = neverAborted } = options;
  const roundsMax = atLeast(1, "roundsMax", options.roundsMax ?? 10);
  const time = trackTimeLeft(transport.settings, options);
  for (let round = 1; ; round++) {
    const { value: current } = await getInventory(transport, petId, time.options(options));
    const quantity = await compute(current);
    if (typeof quantity !== "number") {
      throw new TypeError("The function must return the new count as a number");
    }
    const condition = { ifMatch: current.etag };
    try {
      return await sendUpdate(
        transport,
        petId,
        { quantity },
        time.options({ ...options, ...condition }),
      );
    } catch (error) {
      if (!isPreconditionFailed(error)) throw error;
      if (round >= roundsMax || time.isOver()) {
        throw await conflictFrom(transport, petId, error, time.options(options));
      }
    }
    // One conflict is normal. After more, clients that compete for the entry must spread out.
    if (round > 1) await clock.sleep(retryDelayMs(backoff, round - 1, 0), signal);
    signal.throwIfAborted();
  }
}
