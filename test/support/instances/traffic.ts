import { slownessMax } from "../until.ts";
import type { Fleet } from "./fleet.ts";
import type { Recorder } from "./recording.ts";

/** Clients that update and read until `end`. */
export interface Traffic {
  /** Resolves once this many more updates were acknowledged. */
  moreUpdates(count: number): Promise<void>;
  /** Waits for running requests. Rethrows what a client could not explain. */
  end(): Promise<void>;
}

export interface TrafficOptions {
  readonly pets: readonly bigint[];
  readonly writers: number;
  readonly readers: number;
  /** Whether all updates have idempotency keys. */
  readonly isKeyed?: boolean | undefined;
  /** The longest pause of a client between two requests. */
  readonly pauseMsMax?: number | undefined;
}

/**
 * Every client stays with one instance, so an instance that does not respond affects only its own
 * clients.
 */
export function startTraffic(fleet: Fleet, recorder: Recorder, options: TrafficOptions): Traffic {
  const { pets, writers, readers, pauseMsMax = 10, isKeyed } = options;
  let ended = false;

  async function repeat(act: () => Promise<boolean>): Promise<void> {
    // A client that failed waits a little, or a dead instance would get most of the requests.
    while (!ended && !fleet.isOver) {
      const pauseMs = (await act()) ? pauseMsMax * Math.random() : Math.max(50, pauseMsMax / 2);
      await Bun.sleep(pauseMs);
    }
  }

  const clients = [
    ...Array.from({ length: writers }, (_, number) =>
      repeat(async () => {
        const petId = pets[Math.floor(Math.random() * pets.length)]!;
        const outcome = await recorder.update(number % fleet.size, petId, isKeyed);
        return outcome === "acknowledged";
      }),
    ),
    ...Array.from({ length: readers }, (_, number) => {
      const reader = {};
      return repeat(() => recorder.read(number % fleet.size, reader));
    }),
  ];
  const all = Promise.all(clients);
  // `moreUpdates` and `end` report the failure.
  all.catch(() => {});

  return {
    async moreUpdates(count) {
      const enough = recorder.acknowledged() + count;
      const giveUpAt = performance.now() + 20_000 * slownessMax;
      const progress = (async () => {
        while (recorder.acknowledged() < enough && !ended) {
          if (performance.now() > giveUpAt) throw new Error("updates do not come through");
          await Bun.sleep(10);
        }
      })();
      await Promise.race([progress, all]);
    },
    async end() {
      ended = true;
      await all;
    },
  };
}
