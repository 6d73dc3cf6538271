// Webhooks and their leases, as the store keeps them.
import type { WebhookStore } from "../../src/domain/webhooks/store.ts";
import type { Webhook } from "../../src/domain/webhooks/webhook.ts";
import { call, never, type Process } from "./process.ts";
import type { World } from "./time.ts";

interface Lease {
  readonly holder: string;
  readonly until: number;
}

/** What deliveries use of the store. */
export type Leases = Pick<WebhookStore, "claimWebhooks" | "releaseWebhooks" | "saveDelivered">;

export function createWebhooks(world: World, isEmbedded: boolean, initial: readonly Webhook[]) {
  const webhooks = new Map(initial.map((one) => [one.id, one]));
  const leases = new Map<string, Lease>();
  /** When an operator last changed a webhook, by `performance.now()`. */
  const changedAt = new Map<string, number>();

  function claim(holder: string, leaseMs: number): readonly Webhook[] {
    const now = Date.now();
    const active = [...webhooks.values()].filter(({ state }) => state === "active");
    return active.filter(({ id }) => {
      const lease = leases.get(id);
      const isFree = isEmbedded || !lease || lease.until <= now;
      if (!isFree && lease.holder !== holder) return false;
      leases.set(id, { holder, until: now + leaseMs });
      return true;
    });
  }

  function release(holder: string): void {
    for (const [id, lease] of leases) if (lease.holder === holder) leases.delete(id);
  }

  /** What a process has sent to a server is done even if it crashes. Without a server, it is not. */
  const ask = <T>(process: Process, work: () => T) =>
    call(world, process, () => (isEmbedded && !process.isAlive ? never : work()) as T);

  return {
    find: (id: string) => webhooks.get(id)!,
    changedAt: (id: string) => changedAt.get(id) ?? -Infinity,
    /** What an operator changes. */
    change(id: string, change: Partial<Webhook>): void {
      const before = webhooks.get(id)!;
      changedAt.set(id, performance.now());
      webhooks.set(id, { ...before, ...change, version: before.version + 1 });
    },
    connect: (process: Process): Leases => ({
      claimWebhooks: (holder, leaseMs) => ask(process, () => claim(holder, leaseMs)),
      releaseWebhooks: (holder) => ask(process, () => release(holder)),
      saveDelivered: (holder, delivered) =>
        ask(process, () =>
          delivered.flatMap(({ id, progress, replays, ended }) => {
            const webhook = webhooks.get(id)!;
            if (leases.get(id)?.holder !== holder || webhook.replays !== replays) return [];
            if (ended) world.fail("wrong", `${id} was ended: ${ended.reason}`);
            webhooks.set(id, { ...webhook, ...progress });
            return [id];
          }),
        ),
    }),
  };
}
