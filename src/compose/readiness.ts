import { setTimeout as sleep } from "node:timers/promises";
import type { Shop } from "../domain/shop/shop.ts";
import type { Engine } from "../opening/engines.ts";

/** A follower that is still catching up after this time is busy, not damaged. */
const followerPatienceMs = 1_000;

export async function isReady(
  { connect }: Pick<Engine, "connect">,
  { store, committer, follower }: Pick<Shop, "store" | "committer" | "follower">,
): Promise<boolean> {
  try {
    // First, because it may show that the other connections lead to a server that was replaced.
    await store.inventory.readHead();
    if (!(await connect()) || !store.inventory.canWrite() || committer.isTooSlow()) return false;
    const late = sleep(followerPatienceMs, undefined, { ref: false });
    await Promise.race([follower.catchUp(), late]);
    return true;
  } catch {
    return false;
  }
}
