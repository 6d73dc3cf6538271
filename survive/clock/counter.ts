// Somebody who counts a shelf while goods are sold from it, with a device whose clock is wrong.
import { dayMs } from "../../src/domain/values/times.ts";
import type { Round } from "../part.ts";
import type { Instances } from "./instances.ts";
import type { Caller } from "./promises.ts";

const petId = 22;
const deviceAheadMs = [0, 150, -2_000, 3_600_000, -3_600_000, 400 * dayMs];

interface Count {
  readonly quantity: number;
  readonly countedAt: string;
  /** By the clock of the ledger, as far as the device knows it. */
  readonly time: number;
  /** Whether that clock was behind the last row. */
  readonly wasBehind: boolean;
}

/** Only the counter and the sales here change the shelf, so every count has one right result. */
export function createCounter({ random, fail }: Round, instances: Instances, { send }: Caller) {
  const { keys, ledgerNow } = instances;
  let shelf = 1_000;
  let latest = 0;

  function isBehind(): boolean {
    const now = ledgerNow();
    latest = Math.max(latest, now);
    return now < latest;
  }

  const post = (path: string, key: string, body: object) =>
    send(path, key, { method: "POST", body: JSON.stringify(body), isAny: true });

  async function ask(): Promise<{ cursor: string; now: string }> {
    const response = await post("/admin/stocktakes", keys.operator, {});
    return (await response.json()) as { cursor: string; now: string };
  }

  async function sell(): Promise<void> {
    const delta = -1 - random.below(3);
    const { status } = await post("/changes", keys.load, { changes: [{ petId, delta }] });
    if (status !== 200) fail("wrong", `a sale got ${status}`);
    shelf += delta;
  }

  /** Sends a count, which must be stored as what is on the shelf now, or be refused. */
  async function expect(
    what: string,
    isRefused: boolean,
    { quantity, countedAt, time }: Pick<Count, "quantity" | "countedAt"> & { time?: number },
  ): Promise<void> {
    const timed = time === undefined ? {} : { countedTime: new Date(time).toISOString() };
    const changes = [{ petId, quantity, countedAt, ...timed }];
    const response = await post("/admin/changes", keys.operator, { changes });
    const text = await response.text();
    const isRight = isRefused
      ? response.status === 409 && text.includes("Count again with a connection")
      : response.ok && JSON.parse(text).entries[0].quantity === shelf;
    const due = isRefused ? "refused" : shelf;
    if (!isRight) fail("wrong", `${what}: ${quantity} counted must be ${due}: ${text}`);
  }

  return {
    /** Counts without a connection. The device has heard of no sale since it was told the clock. */
    async count(): Promise<Count> {
      const aheadMs = random.pick(deviceAheadMs);
      const deviceNow = () => Date.now() + aheadMs;
      const sentAt = deviceNow();
      const { cursor, now } = await ask();
      const errorMs = deviceNow() - sentAt;
      const differenceMs = Date.parse(now) - sentAt - errorMs / 2;
      // The stock was wrong: nobody told the store of this one.
      shelf -= 1;
      await sell();
      await Bun.sleep(errorMs + 20);
      const time = Math.round(deviceNow() + differenceMs);
      const count = { quantity: shelf, countedAt: cursor, time, wasBehind: isBehind() };
      await Bun.sleep(errorMs + 20);
      return count;
    },
    /** Applies it, perhaps by another instance, and counts again with a connection. */
    async apply({ wasBehind, ...count }: Count, step: string): Promise<void> {
      await sell();
      const after = `(after: ${step})`;
      await expect(`a count by its time ${after}`, wasBehind || isBehind(), count);
      const { cursor, now } = await ask();
      shelf -= 1;
      const placed = { quantity: shelf, countedAt: cursor };
      await sell();
      const future = { ...placed, time: Date.parse(now) + 60_000 };
      await expect(`a count of the future ${after}`, true, future);
      await expect(`a count by its place ${after}`, false, placed);
    },
  };
}
