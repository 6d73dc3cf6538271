import type { Fleet } from "./fleet.ts";
import type { Recorder } from "./recording.ts";

/** Clients that update and read without pause until they are told to end. */
export interface Traffic {
  /** Resolves once this many more updates were acknowledged. */
  moreUpdates(count: number): Promise<void>;
  /** Lets what is under way finish; rethrows what a client could not explain. */
  end(): Promise<void>;
}

export interface TrafficOptions {
  readonly pets: readonly bigint[];
  readonly writers: number;
  readonly readers: number;
}

/**
 * Every client stays with one instance, so that an instance that falls silent takes only its own
 * clients along.
 */
export function startTraffic(fleet: Fleet, recorder: Recorder, options: TrafficOptions): Traffic {
  const { pets, writers, readers } = options;
  let ended = false;

  async function repeat(act: () => Promise<boolean>): Promise<void> {
    // Whoever is turned away waits a little, or a dead instance would get all the attention.
    while (!ended) await Bun.sleep((await act()) ? 10 * Math.random() : 50);
  }

  const clients = [
    ...Array.from({ length: writers }, (_, number) =>
      repeat(async () => {
        const petId = pets[Math.floor(Math.random() * pets.length)]!;
        return (await recorder.update(number % fleet.size, petId)) === "acknowledged";
      }),
    ),
    ...Array.from({ length: readers }, (_, number) => {
      const reader = {};
      return repeat(() => recorder.read(number % fleet.size, reader));
    }),
  ];
  const all = Promise.all(clients);
  // Whoever waits for traffic hears of its failure; until then nobody does.
  all.catch(() => {});

  return {
    async moreUpdates(count) {
      const enough = recorder.acknowledged() + count;
      const giveUpAt = performance.now() + 20_000;
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
