import { type ClientOptions, PetstoreClient } from "../../../client/src/index.ts";
import { type Limits, plans } from "../../../src/domain/limits/plans.ts";
import { checkAgainstContract } from "../contract/response-check.ts";
import { startTestService, type TestService } from "../service.ts";
import { FetchRecorder } from "./fetch-recorder.ts";
import { ManualClock, runToCompletion } from "./manual-clock.ts";

export const highestId = 2n ** 63n - 1n;

/** The ids of the five orders, in descending order. */
export const orderIds = [0n, 1n, 2n, 3n, 4n].map((step) => highestId - step);

/** A running service with three pets and five orders. */
export class StockedService {
  readonly service: TestService;

  private constructor(service: TestService) {
    this.service = service;
  }

  static async start(flags: Record<string, string> = {}): Promise<StockedService> {
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
    return new StockedService(service);
  }

  /** Issues a key, on the Free plan by default, and creates a client that shares the service's time. */
  async openSession(limits: Limits = plans.free, options: Partial<ClientOptions> = {}) {
    const { id: keyId, text: apiKey } = await this.service.issueKey({ plan: "free", limits });
    const recorder = new FetchRecorder(checkAgainstContract);
    const clock = new ManualClock(this.service.clock);
    const createClient = (more: Partial<ClientOptions> = {}) =>
      new PetstoreClient({
        baseUrl: this.service.baseUrl,
        apiKey,
        clock,
        fetch: recorder.fetch,
        hooks: { onDeprecation: () => {} },
        ...options,
        ...more,
      });
    return {
      keyId,
      apiKey,
      clock,
      recorder,
      createClient,
      client: createClient(),
      /** Waits for `work`, and advances the time of client and service whenever everything waits. */
      run: <T>(work: Promise<T>) => runToCompletion(clock, recorder, work),
      [Symbol.dispose]() {
        if (recorder.checkErrors.length > 0) throw recorder.checkErrors[0];
      },
    };
  }

  /** Reads what the service stored about a key: the requests admitted today, and the bans. */
  async readUsage(keyId: string): Promise<{ admitted: number; bans: number }> {
    // The service stores its counts every second and on shutdown, so after a restart all are stored.
    await this.service.restart();
    const usage = (await this.service.store.usage.loadUsage()).find((row) => row.keyId === keyId);
    const bans = (await this.service.store.usage.loadBans()).filter((ban) => ban.keyId === keyId);
    return { admitted: usage?.dayCount ?? 0, bans: bans.length };
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.service.stop();
  }
}
