// Scripts that check reads against writes: a read must return every write that was acknowledged
// before the read began.
import { type Entry, quantityMin } from "./catalogue.ts";
import type { Head } from "./response-reader.ts";
import {
  checkEntry,
  checkHead,
  GetScript,
  getRequest,
  PatchScript,
  patchRequest,
  type Script,
  type Target,
} from "./scripts.ts";

/** Alternates PATCH and GET. Each GET is the first after a change and must return it. */
export class FirstGetScript implements Script {
  kind: "get" | "patch" = "get";
  readonly #patch: PatchScript;
  readonly #get: GetScript;
  readonly #expected: Buffer;

  constructor(target: Target, expected: Buffer, petIdLast: number) {
    // A prime step spreads the changes over the whole list.
    this.#patch = new PatchScript(target, 1, 7919 % petIdLast || 1, petIdLast, quantityMin);
    this.#expected = Buffer.from(expected);
    this.#get = new GetScript(target, this.#expected);
  }

  next(): string | Buffer {
    this.kind = this.kind === "get" ? "patch" : "get";
    return this.kind === "patch" ? this.#patch.next() : this.#get.next();
  }

  body(bytes: Buffer, offset: number): void {
    if (this.kind === "patch") this.#patch.body(bytes);
    else this.#get.body(bytes, offset);
  }

  finish(head: Head, length: number): void {
    if (this.kind === "get") {
      this.#get.finish(head, length);
      return;
    }
    this.#patch.finish(head);
    const entry = this.#expected.indexOf(`"petId":${this.#patch.petId},`);
    const digits = this.#expected.indexOf('"quantity":', entry) + '"quantity":'.length;
    this.#expected.write(String(this.#patch.quantity), digits, "latin1");
  }
}

/** The last quantity sent and the last one acknowledged, by pet. Each pet has one writer. */
export class WriteProgress {
  readonly sent: Float64Array;
  readonly acknowledged: Float64Array;

  constructor(pets: number) {
    this.sent = new Float64Array(pets + 1);
    this.acknowledged = new Float64Array(pets + 1);
  }
}

/** Increments the quantity of one pet, and records what was sent and acknowledged. */
export class IncrementScript implements Script {
  readonly kind = "patch";
  readonly #target: Target;
  readonly #progress: WriteProgress;
  readonly #petId: number;
  #quantity: number;
  #text = "";

  constructor(target: Target, progress: WriteProgress, petId: number, quantity: number) {
    this.#target = target;
    this.#progress = progress;
    this.#petId = petId;
    this.#quantity = quantity;
    progress.sent[petId] = quantity;
  }

  next(): string {
    this.#quantity++;
    this.#progress.sent[this.#petId] = this.#quantity;
    return patchRequest(this.#target, this.#petId, this.#quantity);
  }

  body(bytes: Buffer): void {
    this.#text += bytes.toString("latin1");
  }

  finish(head: Head): void {
    checkHead(head);
    const text = this.#text;
    this.#text = "";
    checkEntry(text, this.#petId, this.#quantity);
    this.#progress.acknowledged[this.#petId] = this.#quantity;
  }
}

/**
 * Reads the list during writes. Each quantity must be at least the one acknowledged when the read
 * began (otherwise the read is stale), and at most the last one sent (otherwise it is invented).
 */
export class FreshReadScript implements Script {
  readonly kind = "get";
  readonly #request: Buffer;
  readonly #progress: WriteProgress;
  readonly #entries: number;
  readonly #acknowledgedBefore: Float64Array;
  #parts: Buffer[] = [];

  constructor(target: Target, progress: WriteProgress, entries: number) {
    this.#request = Buffer.from(getRequest(target));
    this.#progress = progress;
    this.#entries = entries;
    this.#acknowledgedBefore = new Float64Array(progress.acknowledged.length);
  }

  next(): Buffer {
    this.#acknowledgedBefore.set(this.#progress.acknowledged);
    return this.#request;
  }

  body(bytes: Buffer): void {
    this.#parts.push(Buffer.from(bytes));
  }

  finish(head: Head): void {
    checkHead(head);
    const list = JSON.parse(Buffer.concat(this.#parts).toString()) as Entry[];
    this.#parts = [];
    if (list.length !== this.#entries) throw new Error(`The list has ${list.length} entries.`);
    for (let petId = 1; petId < this.#acknowledgedBefore.length; petId++) {
      const sent = this.#progress.sent[petId]!;
      if (sent === 0) continue;
      const entry = list[petId - 1]!;
      const oldest = this.#acknowledgedBefore[petId]!;
      if (entry.petId !== petId || entry.quantity < oldest || entry.quantity > sent) {
        throw new Error(
          `Pet ${petId} has quantity ${entry.quantity}, expected ${oldest} (acknowledged before) to ${sent} (sent).`,
        );
      }
    }
  }
}
