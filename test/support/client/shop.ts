import { type ClientOptions, PetstoreClient } from "../../../client/src/index.ts";
import type { Limits } from "../../../src/domain/plans.ts";
import { plans } from "../../../src/domain/plans.ts";
import { checkAgainstContract } from "../contract/answer-check.ts";
import { startTestService, type TestService } from "../service.ts";
import { Traffic } from "./load.ts";
import { ManualClock, runOut } from "./timers.ts";

export const highestId = 2n ** 63n - 1n;

/** Five orders: as many ids, the highest first. */
export const orderIds = [0n, 1n, 2n, 3n, 4n].map((step) => highestId - step);

/** The running service with three pets and five orders, and clients that live in its time. */
export class Shop {
  readonly service: TestService;

  private constructor(service: TestService) {
    this.service = service;
  }

  static async open(flags: Record<string, string> = {}): Promise<Shop> {
    const service = await startTestService("sqlite", flags);
    await service.addPets(
      { petId: 1n },
      { petId: 2n, quantity: 1, status: "pending" },
      { petId: highestId, quantity: 7, name: 'Says "petId":1', tags: ["calm"], status: "sold" },
    );
    const order = { petId: 1n, quantity: 2, shipDate: null, complete: false };
    await service.addOrders(
      ...orderIds.map((id, at) => ({ ...order, line: at + 1, id, status: "placed" as const })),
    );
    return new Shop(service);
  }

  /** A customer with a key of its own, on the Free plan unless other limits are given. */
  async enter(limits: Limits = plans.free, options: Partial<ClientOptions> = {}) {
    const { id: keyId, text: apiKey } = await this.service.issueKey({ plan: "free", limits });
    const traffic = new Traffic(checkAgainstContract);
    const clock = new ManualClock(this.service.clock);
    const connect = (more: Partial<ClientOptions> = {}) =>
      new PetstoreClient({
        baseUrl: this.service.baseUrl,
        apiKey,
        clock,
        fetch: traffic.fetch,
        hooks: { onDeprecation: () => {} },
        ...options,
        ...more,
      });
    return {
      keyId,
      apiKey,
      clock,
      traffic,
      connect,
      client: connect(),
      /** Settles work, moving the time of client and service on whenever all of it waits. */
      run: <T>(work: Promise<T>) => runOut(clock, traffic, work),
      [Symbol.dispose]() {
        if (traffic.faults.length > 0) throw traffic.faults[0];
      },
    };
  }

  /** What the service has written down about a key: requests admitted today, and bans. */
  async account(keyId: string): Promise<{ admitted: number; bans: number }> {
    // Counts are written down every second and at the end: a restart leaves none out.
    await this.service.restart();
    const usage = (await this.service.store.usage.loadUsage()).find((row) => row.keyId === keyId);
    const bans = (await this.service.store.usage.loadBans()).filter((ban) => ban.keyId === keyId);
    return { admitted: usage?.dayCount ?? 0, bans: bans.length };
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.service.stop();
  }
}
