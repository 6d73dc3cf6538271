import { describe, expect, test } from "bun:test";
import type { Entry } from "../../src/domain/ledger/inventory.ts";
import { createInventoryList } from "../../src/http/list/list.ts";
import { createReaders, type ListReader } from "../../src/http/list/readers.ts";

const chunkBytes = 480;

/** A list of one chunk that changes before every read, and a clock that the test moves. */
function startReading(heldBytesMax: number) {
  let now = 0;
  let seq = 0;
  const logged: [string, unknown][] = [];
  const log = (event: string, details?: unknown) => void logged.push([event, details]);
  const readers = createReaders(heldBytesMax, () => now, log);
  const list = createInventoryList(10, readers.supersede);
  list.load(
    Array.from({ length: 10 }, (_, at): Entry => {
      return { petId: BigInt(at), quantity: 1, status: "available", version: at + 1 };
    }),
  );
  const change = () => {
    seq += 1;
    list.apply(3n, { quantity: seq % 10, status: "available" });
    list.publish({ epoch: "e", seq });
  };
  change();
  return {
    logged,
    change,
    wait: (ms: number) => {
      now += ms;
    },
    /** A response whose client reads nothing. */
    stall(keyId: string): ListReader {
      const reader = readers.begin(list.current(), keyId);
      void reader.waitFor(new Promise(() => {}));
      change();
      return reader;
    },
    begin: (keyId: string) => readers.begin(list.current(), keyId),
  };
}

describe("responses under way", () => {
  test("hold no more memory of older lists than the bound: the one that holds most is cut off", () => {
    const { stall, wait, logged } = startReading(5 * chunkBytes);
    const stalled: ListReader[] = [];
    for (let count = 0; count < 20; count++) {
      stalled.push(stall("slow"));
      wait(10);
    }
    const isCutOff = stalled.map((reader) => reader.isCutOff());
    expect(isCutOff.filter((cut) => !cut).length).toBeGreaterThanOrEqual(4);
    expect(isCutOff.filter((cut) => cut).length).toBeGreaterThanOrEqual(14);
    // The oldest were cut off first.
    expect(isCutOff).toEqual(isCutOff.toSorted().reverse());
    expect(logged).toEqual([["slow readers cut off", { keyId: "slow", responses: 1 }]]);
  });

  test("of a key with one slow reader are kept longer than those of a key with many", () => {
    const { stall, wait } = startReading(5 * chunkBytes);
    const honest = stall("honest");
    const hostile = Array.from({ length: 30 }, () => {
      wait(10);
      // Its client reads something from time to time, which restarts the wait.
      void honest.waitFor(new Promise(() => {}));
      wait(10);
      return stall("hostile");
    });
    expect(honest.isCutOff()).toBe(false);
    expect(hostile.filter((reader) => reader.isCutOff()).length).toBeGreaterThan(20);
  });

  test("are not cut off while they make progress, whatever other keys hold", () => {
    const { stall, wait, begin, change } = startReading(2 * chunkBytes);
    const moving = begin("honest");
    change();
    for (let count = 0; count < 10; count++) {
      wait(10);
      stall("hostile");
    }
    expect(moving.isCutOff()).toBe(false);
    expect(moving.next()).toBeDefined();
    moving.end();
  });

  test("that end leave room for others", () => {
    const { stall, wait } = startReading(5 * chunkBytes);
    for (let count = 0; count < 50; count++) {
      const reader = stall("slow");
      wait(10);
      reader.end();
      expect(reader.isCutOff()).toBe(false);
    }
  });
});
