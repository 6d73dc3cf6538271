import type { Stock } from "../../domain/inventory.ts";
import type { MaybePromise } from "../../domain/ports.ts";
import type { Replica } from "../../domain/replica.ts";
import { yieldToEventLoop } from "../../domain/turns.ts";
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
 * The inventory as the bytes that answer `GET /inventory`. The list is cut into chunks of some
 * thousand entries. A change waits beside its chunk until the list is published; then that chunk
 * alone is written anew, in one pass over all its waiting changes, and every other chunk is shared
 * with the version before. Bytes once handed out are never changed.
 */
export interface Listing extends Replica {
  /** The list as it was published last. */
  version(): ListVersion;
}

/** One state of the list. `chunks` joined are the JSON text. */
export interface ListVersion {
  /** Names the state: the store's epoch and `seq`. */
  readonly tag: string;
  readonly chunks: readonly Chunk[];
  readonly byteLength: number;
}

export interface ListingOptions {
  readonly chunkEntries: number;
  /** Called with the chunks that newer ones have replaced. */
  onSuperseded(chunks: readonly Chunk[]): void;
}

/** What is written in one turn of the event loop at most: some milliseconds of work. */
const sliceChunksMax = 16;
const sliceChangesMax = 2_048;

/** Changes that may wait before they are written though nobody reads. */
const waitingMax = 131_072;

/** A chunk in its place in the list, and the changes that are not in its bytes yet. */
interface Run {
  readonly chunk: Chunk;
  /** The smallest id it holds. Smaller ones belong to the run before. */
  readonly first: bigint;
  waiting: Changes | undefined;
}

/** One writing of all changes that waited when it began. */
interface Pass {
  readonly changes: readonly (Changes | undefined)[];
  /** What takes the place of each chunk; a chunk without changes stays. */
  readonly written: (readonly Chunk[] | undefined)[];
  /** Runs from here on are done. */
  at: number;
}

export function createListing({ chunkEntries, onSuperseded }: ListingOptions): Listing {
  let runs: Run[] = [];
  let waitingChanges = 0;
  let waitingRuns = 0;
  /** True when one run alone has more changes than a turn should write. */
  let isCrowded = false;
  let current = versionOf("", runs);

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
    // Only new entries can be so many: a chunk has at most twice its usual number.
    if (run.waiting.size > 2 * chunkEntries) isCrowded = true;
  }

  /** Takes the waiting changes out; what is applied from now on waits for the next pass. */
  function beginPass(): Pass {
    const changes = runs.map((run) => run.waiting);
    for (const run of runs) run.waiting = undefined;
    waitingChanges = 0;
    waitingRuns = 0;
    isCrowded = false;
    return { changes, written: new Array(runs.length), at: runs.length };
  }

  /** Writes chunks until a slice is full; false once none is left. */
  function writeSlice(pass: Pass): boolean {
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

  function endPass({ written }: Pass): void {
    const superseded: Chunk[] = [];
    const homeless: Changes[] = [];
    runs = runs.flatMap((run, at) => {
      const chunks = written[at];
      if (!chunks) return run;
      superseded.push(run.chunk);
      const fresh = chunks.map(toRun);
      // Changes that came during the pass stay where they are, unless the run's bounds have moved.
      if (fresh.length === 1 && fresh[0]!.first === run.first) fresh[0]!.waiting = run.waiting;
      else if (run.waiting) homeless.push(run.waiting);
      return fresh;
    });
    const [first] = runs;
    // What was second may become first; its bytes may be on their way to somebody, so copy.
    if (first && !isFirst(first.chunk)) {
      runs[0] = { ...first, chunk: asFirst(first.chunk) };
      superseded.push(first.chunk);
    }
    for (const changes of homeless) {
      waitingChanges -= changes.size;
      waitingRuns -= 1;
      for (const [petId, after] of changes) apply(petId, after);
    }
    onSuperseded(superseded);
  }

  /** Puts the changes back, under those that came since. */
  function undoPass({ changes }: Pass): void {
    runs.forEach((run, at) => {
      const later = run.waiting;
      run.waiting = changes[at] ?? later;
      if (changes[at]) for (const [petId, after] of later ?? []) changes[at].set(petId, after);
    });
    waitingRuns = runs.filter(({ waiting }) => waiting).length;
    waitingChanges = runs.reduce((sum, { waiting }) => sum + (waiting?.size ?? 0), 0);
  }

  function write(): MaybePromise<void> {
    if (waitingRuns === 0) return;
    const isShort = waitingRuns <= sliceChunksMax && waitingChanges <= sliceChangesMax;
    const pass = beginPass();
    if (!isShort) return writeInSlices(pass);
    try {
      while (writeSlice(pass));
    } catch (error) {
      undoPass(pass);
      throw error;
    }
    endPass(pass);
  }

  async function writeInSlices(pass: Pass): Promise<void> {
    try {
      while (writeSlice(pass)) await yieldToEventLoop();
    } catch (error) {
      undoPass(pass);
      throw error;
    }
    endPass(pass);
  }

  return {
    clear() {
      onSuperseded(runs.map(({ chunk }) => chunk));
      runs = [];
      waitingChanges = 0;
      waitingRuns = 0;
      isCrowded = false;
    },
    load(entries) {
      for (let from = 0; from < entries.length; from += chunkEntries) {
        const slice = entries.slice(from, from + chunkEntries);
        const ids = slice.map(({ petId }) => petId);
        const chunk = encode(ids, slice);
        runs.push(toRun(runs.length === 0 ? asFirst(chunk) : chunk));
      }
    },
    apply,
    get size() {
      return runs.reduce((sum, { chunk }) => sum + chunk.ids.length, 0);
    },
    get isFull() {
      return isCrowded || waitingChanges > waitingMax;
    },
    write,
    publish({ epoch, seq }) {
      const show = () => {
        current = versionOf(`${epoch}-${seq}`, runs);
      };
      const writing = write();
      return writing ? writing.then(show) : show();
    },
    version: () => current,
  };
}

function toRun(chunk: Chunk): Run {
  return { chunk, first: chunk.ids[0]!, waiting: undefined };
}

/** The run that holds this id or would: the last one that does not start behind it. */
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
  return { tag, chunks, byteLength };
}
