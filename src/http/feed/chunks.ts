import type { Position } from "../../domain/ledger/epochs.ts";
import type { Cause, NamedRow } from "../../domain/ledger/ledger.ts";
import type { LedgerTail } from "../../domain/ledger/tail.ts";
import { andThen, type MaybePromise } from "../../domain/running/clock.ts";
import { changeEvent } from "./events.ts";

/** Which changes a stream sends. Undefined fields match every change. */
export interface FeedFilter {
  readonly cause: Cause | undefined;
  readonly keyId: string | undefined;
}

/** Consecutive changes as bytes. */
export interface FeedChunk {
  readonly afterSeq: number;
  /** The last row that the chunk covers, whether it matches the filter or not. */
  readonly position: Position;
  readonly bytes: Uint8Array;
}

/** Memory for chunks that more streams may need. */
const cachedBytesMax = 4 * 1024 * 1024;

/** The size of a cache entry without its bytes. A chunk without a matching row has no bytes. */
const entryBytes = 512;

/**
 * The ledger as chunks of events. Streams at the same position with the same filter share a chunk, so
 * a row is encoded once, however many streams it goes to.
 */
export function createFeedChunks(tail: LedgerTail) {
  /** By filter and position, the oldest first. */
  const cached = new Map<string, FeedChunk>();
  let cachedBytes = 0;
  let clears = 0;
  const encoder = new TextEncoder();

  function encode(afterSeq: number, filter: FeedFilter, rows: readonly NamedRow[]): FeedChunk {
    let text = "";
    for (const row of rows) {
      if (matches(row, filter)) text += changeEvent(row, tail.positionAt(row.seq));
    }
    const position = tail.positionAt(rows.at(-1)!.seq);
    return { afterSeq, position, bytes: encoder.encode(text) };
  }

  function keep(name: string, chunk: FeedChunk): void {
    drop(name);
    cached.set(name, chunk);
    cachedBytes += entryBytes + chunk.bytes.length;
    for (const oldest of cached.keys()) {
      if (cachedBytes <= cachedBytesMax) break;
      drop(oldest);
    }
  }

  function drop(name: string): void {
    const chunk = cached.get(name);
    if (!chunk) return;
    cached.delete(name);
    cachedBytes -= entryBytes + chunk.bytes.length;
  }

  return {
    /** The changes after this row. Undefined if there are none at the moment. */
    after(seq: number, filter: FeedFilter): MaybePromise<FeedChunk | undefined> {
      const name = `${seq} ${filter.cause ?? ""} ${filter.keyId ?? ""}`;
      const found = cached.get(name);
      if (found) return found;
      const before = clears;
      const chunkOf = (rows: readonly NamedRow[]) => {
        if (rows.length === 0 || clears !== before) return undefined;
        const chunk = encode(seq, filter, rows);
        keep(name, chunk);
        return chunk;
      };
      return andThen(tail.rowsAfter(seq), chunkOf);
    },
    /** Removes all chunks. Call it when the store has another history. */
    clear(): void {
      clears += 1;
      cached.clear();
      cachedBytes = 0;
    },
  };
}

function matches(row: NamedRow, { cause, keyId }: FeedFilter): boolean {
  return (
    (cause === undefined || row.cause === cause) && (keyId === undefined || row.keyId === keyId)
  );
}
