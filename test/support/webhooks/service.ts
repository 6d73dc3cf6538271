import type { Config } from "../../../src/config.ts";
import { byCommand } from "../../../src/domain/audit/audit.ts";
import { parseNetwork } from "../../../src/domain/values/networks.ts";
import { createWebhook } from "../../../src/domain/webhooks/lifecycle.ts";
import type { WebhookTerms } from "../../../src/domain/webhooks/terms.ts";
import type { Webhook } from "../../../src/domain/webhooks/webhook.ts";
import { createWebhookSender } from "../../../src/webhooks/sender.ts";
import { createTestClock, type TestClock } from "../clock.ts";
import { type Engine, startTestService, type TestService } from "../service.ts";
import { setUnit } from "../units.ts";
import { until } from "../until.ts";

/** Settings with which a service sends webhooks to this machine. */
const localWebhooks = {
  "webhooks-allow-insecure": "on",
  "webhooks-allowed-networks": "127.0.0.0/8",
};

const bounds: Config["webhooks"] = {
  timeoutMs: 3_000,
  leaseMs: 30_000,
  leaseLeftMinMs: 20_000,
  renewEveryMs: 50,
  renewLocallyEveryMs: 50,
};

const patienceMs = 10_000;

export interface WebhookService extends TestService {
  create(terms: WebhookTerms): Promise<{ id: string; secret: string }>;
  find(id: string): Promise<Webhook>;
  /** Stores changes of pet 1, which sets its quantity to each of these. Returns the last `seq`. */
  change(...quantities: readonly number[]): Promise<number>;
  /** Waits until it is true. Moves the clock to the next attempt of those webhooks that are failing. */
  retriedUntil(ids: readonly string[], isTrue: () => boolean | Promise<boolean>): Promise<void>;
  /** Waits until it is true, without moving the clock. */
  becomes(isTrue: () => boolean | Promise<boolean>): Promise<void>;
  /** The events about a webhook in the log, in order. */
  events(id: string): readonly { readonly event: string; readonly [detail: string]: unknown }[];
}

/** A service that notices operators' changes within milliseconds, with one pet. */
export async function startWebhookService(
  engine: Engine,
  changed: Partial<Config["webhooks"]> = {},
  { database, clock = createTestClock() }: { database?: string; clock?: TestClock } = {},
): Promise<WebhookService> {
  const service = await startTestService(
    engine,
    { ...localWebhooks, ...(database && { database }) },
    { webhooks: { ...bounds, ...changed } },
    { clock },
  );
  if (!database) await service.addPets({ petId: 1n, quantity: 0 });
  const sender = createWebhookSender({
    webhooksAllowInsecure: true,
    webhooksAllowedNetworks: [parseNetwork("127.0.0.0/8")!],
  });

  async function find(id: string): Promise<Webhook> {
    const webhook = await service.store.webhooks.findWebhook(id);
    if (!webhook) throw new Error(`no webhook ${id}`);
    return webhook;
  }
  const becomes = async (isTrue: () => boolean | Promise<boolean>) =>
    void (await until(isTrue, patienceMs, String(isTrue)));

  // The getters of the service must stay getters: a restart replaces what they return.
  const additions: Omit<WebhookService, keyof TestService> = {
    async create(terms) {
      const created = await createWebhook(
        service.store,
        sender,
        terms,
        byCommand(service.clock.now()),
      );
      return { id: created.webhook.id, secret: created.secret };
    },
    find,
    async change(...quantities) {
      const units = quantities.map((quantity) => setUnit(1n, quantity));
      const { rows } = await service.store.inventory.commit(units);
      return rows.at(-1)!.seq;
    },
    retriedUntil: (ids, isTrue) =>
      becomes(async () => {
        if (await isTrue()) return true;
        for (const { nextAttemptAt } of await Promise.all(ids.map(find))) {
          if (nextAttemptAt > service.clock.now()) service.clock.set(nextAttemptAt);
        }
        return false;
      }),
    becomes,
    events: (id) =>
      service.logged
        .map((line) => JSON.parse(line) as { event: string; id?: string })
        .filter((line) => line.id === id),
  };
  return Object.defineProperties(
    service,
    Object.getOwnPropertyDescriptors(additions),
  ) as WebhookService;
}

/** The numbers from one to another. */
export function range(from: number, to: number): number[] {
  return Array.from({ length: to - from + 1 }, (_, at) => from + at);
}
