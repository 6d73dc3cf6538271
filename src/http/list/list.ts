import type { Replica } from "../../domain/inventory/replay.ts";
import type { Stock } from "../../domain/ledger/inventory.ts";
import { yieldToEventLoop } from "../../domain/running/background.ts";
import { andThen, type MaybePromise } from "../../domain/running/clock.ts";
import {
  asFirst,
  type Changes,
  type Chunk,
  closing,
  empty,
  encode,
  isFirst,
  rewrite,
  split,
} from "./chunks.ts";

/**
 * The inventory as the bytes of `GET /inventory`. The list consists of chunks of several thousand
 * entries. Changes are collected per chunk until the list is published. Then each changed chunk is
 * rewritten in one pass over its changes, and the new version shares all other chunks with the
 * previous one. The bytes of a version never change.
 */
export interface InventoryList extends Replica {
  /** The version that was published last. */
  current(): ListVersion;
}

/** One state of the list. Its chunks, joined, are the JSON text. */
export interface ListVersion {
  /** Identifies the state: the store's epoch and `seq`. */
  readonly tag: string;
  readonly chunks: readonly Chunk[];
  readonly byteLength: number;
  /** All bytes in one piece, once they were joined. */
  blob: Blob | undefined;
}

/** Called with the chunks that were replaced. */
type OnSuperseded = (chunks: readonly Chunk[]) => void;

/** The most that one turn of the event loop writes: a few milliseconds of work. */
const sliceChunksMax = 16;
const sliceChangesMax = 2_048;

/** More collected changes than this are written even if no request reads the list. */
const waitingMax = 131_072;

/** A chunk at its position in the list, with the changes that its bytes do not contain yet. */
interface Run {
  readonly chunk: Chunk;
  /** Its smallest id. Smaller ids belong to the run before. */
  readonly first: bigint;
  waiting: Changes | undefined;
}

/** Writes all changes that were collected when it began, from the last run to the first. */
interface Pass {
  readonly changes: readonly (Changes | undefined)[];
  /** The replacement of each chunk; undefined for a chunk without changes. */
  readonly written: (readonly Chunk[] | undefined)[];
  /** Runs from this index on are done. */
  at: number;
}

/** The chunks of the list, and the changes that they do not contain yet. */
function createRuns(chunkEntries: number, onSuperseded: OnSuperseded) {
  let runs: Run[] = [];
  let waitingChanges = 0;
  let waitingRuns = 0;
  /** True when a single run has more changes than one turn should write. */
  let isCrowded = false;

  function apply(petId: bigint, after: Stock | null): void {
    if (runs.length === 0) runs.push({ chunk: encode([], []), first: petId, waiting: undefined });
    const run = runs[runFor(runs, petId)]!;
    if (!run.waiting) {
      run.waiting = new Map();
      waitingRuns += 1;
    }
    const before = run.waiting.size;
    run.waiting.set(petId, after);
    waitingChanges += run.waiting.size - before;
    // Only new entries can add up to this: a chunk has at most twice its usual number of entries.
    if (run.waiting.size > 2 * chunkEntries) isCrowded = true;
  }

  /** Takes the collected changes. Later changes belong to the next pass. */
  function beginPass(): Pass {
    const changes = runs.map((run) => run.waiting);
    for (const run of runs) run.waiting = undefined;
    waitingChanges = 0;
    waitingRuns = 0;
    isCrowded = false;
    return { changes, written: new Array(runs.length), at: runs.length };
  }

  function endPass({ written }: Pass): void {
    const superseded: Chunk[] = [];
    const displaced: Changes[] = [];
    runs = runs.flatMap((run, at) => {
      const chunks = written[at];
      if (!chunks) return run;
      superseded.push(run.chunk);
      const fresh = chunks.map(toRun);
      // Changes that arrived during the pass stay with their run unless its bounds have moved.
      if (fresh.length === 1 && fresh[0]!.first === run.first) fresh[0]!.waiting = run.waiting;
      else if (run.waiting) displaced.push(run.waiting);
      return fresh;
    });
    const [first] = runs;
    // The second run may have become the first. Responses may be sending its bytes, so it is copied.
    if (first && !isFirst(first.chunk)) {
      runs[0] = { ...first, chunk: asFirst(first.chunk) };
      superseded.push(first.chunk);
    }
    for (const changes of displaced) {
      waitingChanges -= changes.size;
      waitingRuns -= 1;
      for (const [petId, after] of changes) apply(petId, after);
    }
    onSuperseded(superseded);
  }

  /** Puts the changes back. Changes that arrived since take precedence. */
  function undoPass({ changes }: Pass): void {
    runs.forEach((run, at) => {
      const later = run.waiting;
      run.waiting = changes[at] ?? later;
      if (changes[at]) for (const [petId, after] of later ?? []) changes[at].set(petId, after);
    });
    waitingRuns = runs.filter(({ waiting }) => waiting).length;
    waitingChanges = runs.reduce((sum, { waiting }) => sum + (waiting?.size ?? 0), 0);
  }

  function clear(): void {
    onSuperseded(runs.map(({ chunk }) => chunk));
    runs = [];
    waitingChanges = 0;
    waitingRuns = 0;
    isCrowded = false;
  }

  return {
    apply,
    beginPass,
    endPass,
    undoPass,
    clear,
    all: (): readonly Run[] => runs,
    add: (run: Run) => runs.push(run),
    /** The number of runs with changes that are not written yet. */
    waiting: () => waitingRuns,
    isShort: () => waitingRuns <= sliceChunksMax && waitingChanges <= sliceChangesMax,
    isFull: () => isCrowded || waitingChanges > waitingMax,
  };
}

export function createInventoryList(
  chunkEntries: number,
  onSuperseded: OnSuperseded,
): InventoryList {
  const runs = createRuns(chunkEntries, onSuperseded);
  let current = versionOf("", runs.all());

  /** Writes one slice. If it fails, the changes are put back. */
  function writeSlice(pass: Pass): boolean {
    try {
      return writeChunks(pass, runs.all(), chunkEntries);
    } catch (error) {
      runs.undoPass(pass);
      throw error;
    }
  }

  function write(): MaybePromise<void> {
    if (runs.waiting() === 0) return;
    const isShort = runs.isShort();
    const pass = runs.beginPass();
    if (!isShort) return writeInSlices(pass);
    while (writeSlice(pass));
    runs.endPass(pass);
  }

  async function writeInSlices(pass: Pass): Promise<void> {
    while (writeSlice(pass)) await yieldToEventLoop();
    runs.endPass(pass);
  }

  return {
    clear: runs.clear,
    load(entries) {
      for (let from = 0; from < entries.length; from += chunkEntries) {
        const slice = entries.slice(from, from + chunkEntries);
        const ids = slice.map(({ petId }) => petId);
        const chunk = encode(ids, slice);
        runs.add(toRun(runs.all().length === 0 ? asFirst(chunk) : chunk));
      }
    },
    apply: runs.apply,
    get size() {
      return runs.all().reduce((sum, { chunk }) => sum + chunk.ids.length, 0);
    },
    get isFull() {
      return runs.isFull();
    },
    write,
    publish({ epoch, seq }) {
      return andThen(write(), () => {
        current = versionOf(`${epoch}-${seq}`, runs.all());
      });
    },
    current: () => current,
  };
}

/** Writes the next chunks of a pass. Returns false when none is left. */
function writeChunks(pass: Pass, runs: readonly Run[], chunkEntries: number): boolean {
  let chunksLeft = sliceChunksMax;
  let changesLeft = sliceChangesMax;
  while (pass.at > 0 && chunksLeft > 0) {
    const changes = pass.changes[pass.at - 1];
    if (changes && changes.size > changesLeft && changesLeft < sliceChangesMax) break;
    pass.at -= 1;
    if (!changes) continue;
    pass.written[pass.at] = split(rewrite(runs[pass.at]!.chunk, changes), chunkEntries);
    changesLeft -= changes.size;
    chunksLeft -= 1;
  }
  return pass.at > 0;
}

function toRun(chunk: Chunk): Run {
  return { chunk, first: chunk.ids[0]!, waiting: undefined };
}

/** The index of the run that contains this id, or would: the last one that starts at or before it. */
function runFor(runs: readonly Run[], petId: bigint): number {
  let low = 0;
  let high = runs.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >>> 1;
    if (runs[middle]!.first <= petId) low = middle;
    else high = middle - 1;
  }
  return low;
}

function versionOf(tag: string, runs: readonly Run[]): ListVersion {
  const chunks = runs.length === 0 ? [empty] : [...runs.map(({ chunk }) => chunk), closing];
  const byteLength = chunks.reduce((sum, { bytes }) => sum + bytes.length, 0);
  return { tag, chunks, byteLength, blob: undefined };
}
