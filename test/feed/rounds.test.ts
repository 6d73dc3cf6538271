import { expect, test } from "bun:test";
import type { Position } from "../../src/domain/ledger/epochs.ts";
import type { NamedRow } from "../../src/domain/ledger/ledger.ts";
import { type LedgerTail, pageRows } from "../../src/domain/ledger/tail.ts";
import type { FeedChunk } from "../../src/http/feed/chunks.ts";
import { createRounds } from "../../src/http/feed/rounds.ts";
import type { FeedStream } from "../../src/http/feed/stream.ts";
import { until } from "../support/until.ts";

const headSeq = 10 * pageRows;

function rowAt(seq: number): NamedRow {
  const stock = { quantity: 1, status: "available" } as const;
  const origin = { cause: "import", keyId: null, keyName: null, requestId: null } as const;
  return {
    ...origin,
    seq,
    petId: 1n,
    before: stock,
    after: stock,
    previous: null,
    reason: null,
    at: 0,
  };
}

const positionAt = (seq: number): Position => ({ epoch: "e", seq });

/** A ledger whose older pages are read when the test says so. */
function startRounds(readOldPage: (after: number) => Promise<readonly NamedRow[]>) {
  const tail = {
    seq: headSeq,
    positionAt,
    includes: () => true,
    rowsAfter: (after: number) =>
      headSeq - after > pageRows ? readOldPage(after) : Promise.resolve([rowAt(headSeq)]),
  } as unknown as LedgerTail;
  const streams = new Set<FeedStream>();
  const rounds = createRounds(
    streams,
    tail,
    () => performance.now(),
    () => {},
  );
  function add(seq: number) {
    let position = positionAt(seq);
    const stream = {
      isWritable: () => true,
      request: { filter: { cause: undefined, keyId: undefined } },
      position: () => position,
      sendChanges(chunk: FeedChunk) {
        position = chunk.position;
      },
    };
    streams.add(stream as unknown as FeedStream);
    return stream;
  }
  return { rounds, add };
}

test("a stream at the end does not wait for the reads of streams far behind", async () => {
  const held = Promise.withResolvers<readonly NamedRow[]>();
  let reads = 0;
  const { rounds, add } = startRounds(() => {
    reads += 1;
    return held.promise;
  });
  const far = Array.from({ length: 40 }, (_, at) => add(at));
  const live = add(headSeq - 1);
  rounds.wake();
  await until(() => live.position().seq === headSeq, 5_000, "the live stream");
  expect(far.every(({ position }, at) => position().seq === at)).toBe(true);
  // Not one for each stream: the database serves other requests too.
  expect(reads).toBe(16);
  held.resolve([]);
});

test("streams far behind are read for in turn, and a read that fails stops no other", async () => {
  const { rounds, add } = startRounds(async (after) => {
    if (after === 3) throw new Error("no page");
    return [rowAt(after + pageRows)];
  });
  const streams = Array.from({ length: 40 }, (_, at) => add(at));
  const areAtEnd = () => {
    rounds.wake();
    return streams.every(({ position }, at) => at === 3 || position().seq === headSeq);
  };
  await until(areAtEnd, 5_000, "the other streams");
  expect(streams[3]!.position().seq).toBe(3);
});
