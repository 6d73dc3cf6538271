import { describe, expect, test } from "bun:test";
import type { Entry } from "../../src/domain/inventory.ts";
import { createSender } from "../../src/http/list/body.ts";
import { createCodings } from "../../src/http/list/encodings.ts";
import { createListing } from "../../src/http/list/list.ts";
import { createReaders } from "../../src/http/list/readers.ts";

const request = new Request("http://test/v1/inventory");

/** A list of that many entries. Its sender and its encodings use a clock that the test moves. */
function createLongList(entries: number) {
  let now = 0;
  const clock = () => now;
  const readers = createReaders(1e9, clock, () => {});
  const listing = createListing({ chunkEntries: 4_096, onSuperseded: readers.supersede });
  listing.load(
    Array.from({ length: entries }, (_, at): Entry => {
      // Numbers that compress badly, so that the compressed list is long too.
      const quantity = Math.floor(((at * 2654435761) % 2 ** 32) * 2_000_003);
      return { petId: BigInt(at), quantity, status: "available", version: at + 1 };
    }),
  );
  listing.publish({ epoch: "e", seq: 1 });
  const change = () => {
    listing.apply(1n, { quantity: Math.floor(now), status: "sold" });
    listing.publish({ epoch: "e", seq: 2 });
  };
  const wait = (ms: number) => {
    now += ms;
  };
  return { listing, sender: createSender(readers, clock), clock, change, wait };
}

describe("how a list is sent", () => {
  test("a short one is a Blob from the first request on, shared by all requests", () => {
    const { listing, sender, change } = createLongList(100);
    const first = sender.bodyOf(listing.version(), request, "key");
    expect(first).toBeInstanceOf(Blob);
    expect(sender.bodyOf(listing.version(), request, "key")).toBe(first);
    change();
    expect(sender.bodyOf(listing.version(), request, "key")).toBeInstanceOf(Blob);
  });

  test("a long one is streamed for the first request and becomes a Blob for the second", () => {
    const { listing, sender } = createLongList(40_000);
    expect(sender.bodyOf(listing.version(), request, "key")).toBeInstanceOf(ReadableStream);
    const second = sender.bodyOf(listing.version(), request, "key");
    expect(second).toBeInstanceOf(Blob);
    expect(sender.bodyOf(listing.version(), request, "key")).toBe(second);
  });

  test("a very long one is never joined, because that would block the event loop for too long", () => {
    const { listing, sender } = createLongList(300_000);
    for (let count = 0; count < 3; count++) {
      const body = sender.bodyOf(listing.version(), request, "key");
      expect(body).toBeInstanceOf(ReadableStream);
    }
  });

  test("no second long Blob is made while slow readers may hold the first", () => {
    const { listing, sender, change, wait } = createLongList(40_000);
    const readTwice = () => {
      sender.bodyOf(listing.version(), request, "key");
      return sender.bodyOf(listing.version(), request, "key");
    };
    expect(readTwice()).toBeInstanceOf(Blob);
    change();
    expect(readTwice()).toBeInstanceOf(ReadableStream);
    wait(listing.version().byteLength / 100 + 1);
    expect(readTwice()).toBeInstanceOf(Blob);
  });

  test("no second long compressed list is made while slow readers may hold the first", async () => {
    const { listing, clock, change, wait } = createLongList(150_000);
    const codings = createCodings(clock);
    const find = () => codings.find(listing.version(), "zstd");
    const compressed = async (attempts: number) => {
      for (let attempt = 0; attempt < attempts; attempt++) {
        const blob = find();
        if (blob) return blob;
        await new Promise((resolve) => setTimeout(resolve, 2));
      }
      return undefined;
    };
    const first = await compressed(5_000);
    expect(first!.size).toBeGreaterThan(1024 * 1024);
    change();
    expect(await compressed(50)).toBeUndefined();
    wait(first!.size / 100 + 1);
    expect(await compressed(5_000)).toBeInstanceOf(Blob);
  });
});
