import { describe, expect, test } from "bun:test";
import type { Entry } from "../../src/domain/ledger/inventory.ts";
import { createListBodies } from "../../src/http/list/body.ts";
import { createListEncodings } from "../../src/http/list/encodings.ts";
import { createInventoryList } from "../../src/http/list/list.ts";
import { createReaders } from "../../src/http/list/readers.ts";
import { pass, until } from "../support/until.ts";

const request = new Request("http://test/v1/inventory");

/** A list of that many entries. Its bodies and its encodings use a clock that the test moves. */
function createLongList(entries: number) {
  let now = 0;
  const clock = () => now;
  const readers = createReaders(1e9, clock, () => {});
  const list = createInventoryList(4_096, readers.supersede);
  list.load(
    Array.from({ length: entries }, (_, at): Entry => {
      // Numbers that compress badly, so that the compressed list is long too.
      const quantity = Math.floor(((at * 2654435761) % 2 ** 32) * 2_000_003);
      return { petId: BigInt(at), quantity, status: "available", version: at + 1 };
    }),
  );
  list.publish({ epoch: "e", seq: 1 });
  const change = () => {
    list.apply(1n, { quantity: Math.floor(now), status: "sold" });
    list.publish({ epoch: "e", seq: 2 });
  };
  const wait = (ms: number) => {
    now += ms;
  };
  return { list, bodies: createListBodies(readers, clock), clock, change, wait };
}

describe("how a list is sent", () => {
  test("a short one is a Blob from the first request on, shared by all requests", () => {
    const { list, bodies, change } = createLongList(100);
    const first = bodies.bodyOf(list.current(), request, "key");
    expect(first).toBeInstanceOf(Blob);
    expect(bodies.bodyOf(list.current(), request, "key")).toBe(first);
    change();
    expect(bodies.bodyOf(list.current(), request, "key")).toBeInstanceOf(Blob);
  });

  test("a long one is streamed for the first request and becomes a Blob for the second", () => {
    const { list, bodies } = createLongList(40_000);
    expect(bodies.bodyOf(list.current(), request, "key")).toBeInstanceOf(ReadableStream);
    const second = bodies.bodyOf(list.current(), request, "key");
    expect(second).toBeInstanceOf(Blob);
    expect(bodies.bodyOf(list.current(), request, "key")).toBe(second);
  });

  test("a very long one is never joined, because that would block the event loop for too long", () => {
    const { list, bodies } = createLongList(300_000);
    for (let count = 0; count < 3; count++) {
      const body = bodies.bodyOf(list.current(), request, "key");
      expect(body).toBeInstanceOf(ReadableStream);
    }
  });

  test("no second long Blob is made while slow readers may hold the first", () => {
    const { list, bodies, change, wait } = createLongList(40_000);
    const readTwice = () => {
      bodies.bodyOf(list.current(), request, "key");
      return bodies.bodyOf(list.current(), request, "key");
    };
    expect(readTwice()).toBeInstanceOf(Blob);
    change();
    expect(readTwice()).toBeInstanceOf(ReadableStream);
    wait(list.current().byteLength / 100 + 1);
    expect(readTwice()).toBeInstanceOf(Blob);
  });

  test("no second long compressed list is made while slow readers may hold the first", async () => {
    const { list, clock, change, wait } = createLongList(150_000);
    const encodings = createListEncodings(clock);
    const find = () => encodings.find(list.current(), "zstd");
    const compressed = () => until(() => find() !== undefined, 10_000, "a compressed list");
    const tookMs = await compressed();
    const first = find();
    expect(first!.size).toBeGreaterThan(1024 * 1024);
    change();
    expect(find()).toBeUndefined();
    await pass(2 * tookMs);
    expect(find()).toBeUndefined();
    wait(first!.size / 100 + 1);
    await compressed();
    expect(find()).toBeInstanceOf(Blob);
  });
});
