// The bytes of the feed that a group of listeners receives. Each row is parsed and checked once, for
// the listener that receives it first. What the others receive is compared with those bytes, so a
// check costs them little.
import type { Delays } from "./delays.ts";

const blockBytes = 1024 * 1024;

export class SharedStream {
  /** The row before the first one. */
  readonly startSeq: number;
  /** Blocks by number. The ones that every listener has received are removed. */
  readonly #blocks = new Map<number, Buffer>();
  #endOffset = 0;
  #incomplete = "";
  /** Where each event ends. Event `n` is row `startSeq + n + 1`. */
  readonly #ends: number[] = [];
  /** When each row was written, in milliseconds. */
  readonly #times: number[] = [];

  constructor(startSeq: number) {
    this.startSeq = startSeq;
  }

  /** Adds the bytes at `offset` or compares them with the ones that were added. Throws if they differ. */
  receive(offset: number, bytes: Buffer): void {
    for (let at = 0; at < bytes.length; ) {
      const position = offset + at;
      const within = position % blockBytes;
      const number = (position - within) / blockBytes;
      const known = Math.min(this.#endOffset - position, blockBytes - within);
      const length = Math.min(bytes.length - at, known > 0 ? known : blockBytes - within);
      if (known > 0) this.#compare(number, within, bytes.subarray(at, at + length));
      else this.#append(number, within, bytes.subarray(at, at + length));
      at += length;
    }
  }

  #compare(number: number, within: number, bytes: Buffer): void {
    const block = this.#blocks.get(number);
    if (block?.compare(bytes, 0, bytes.length, within, within + bytes.length) !== 0) {
      throw new Error(`Two listeners received different bytes: ${bytes.toString("latin1")}`);
    }
  }

  #append(number: number, within: number, bytes: Buffer): void {
    let block = this.#blocks.get(number);
    if (!block) {
      block = Buffer.allocUnsafe(blockBytes);
      this.#blocks.set(number, block);
    }
    bytes.copy(block, within);
    const before = this.#endOffset - this.#incomplete.length;
    this.#endOffset += bytes.length;
    const text = this.#incomplete + bytes.toString("latin1");
    let from = 0;
    for (let to = text.indexOf("\n\n"); to >= 0; to = text.indexOf("\n\n", from)) {
      this.#addEvent(text.slice(from, to));
      from = to + 2;
      this.#ends.push(before + from);
    }
    this.#incomplete = text.slice(from);
  }

  #addEvent(event: string): void {
    const seq = this.startSeq + this.#ends.length + 1;
    const [, id, inData, at] =
      /^id: .*-(\d+)\nevent: change\ndata: \{"seq":(\d+),.*"at":"([^"]+)"\}$/.exec(event) ?? [];
    if (Number(id) !== seq || Number(inData) !== seq) {
      throw new Error(`Expected row ${seq}, received ${event}`);
    }
    this.#times.push(Date.parse(at!));
  }

  /**
   * Counts the events that end at `offset` or before, from `events` on, and adds the delay of each.
   * Returns the new count.
   */
  countEvents(events: number, offset: number, delays: Delays): number {
    const now = Date.now();
    let count = events;
    while (count < this.#ends.length && this.#ends[count]! <= offset) {
      delays.add(now - this.#times[count]!);
      count += 1;
    }
    return count;
  }

  /** Removes what every listener has received. */
  forget(before: number): void {
    for (const number of this.#blocks.keys()) {
      if ((number + 1) * blockBytes > before) break;
      this.#blocks.delete(number);
    }
  }
}
