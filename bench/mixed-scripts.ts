// Scripts for loads in which reads and writes meet: what a read must show depends on which writes
// were answered before it began.
import { type Entry, quantityMin } from "./catalogue.ts";
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
import type { Head } from "./wire.ts";

/** One PATCH, then one GET that must show it, in turn: each GET is the first after a change. */
export class FirstGetScript implements Script {
  kind: "get" | "patch" = "get";
  readonly #patch: PatchScript;
  readonly #get: GetScript;
  readonly #expected: Buffer;

  constructor(target: Target, expected: Buffer, petIdLast: number) {
    // A step that shares no factor with most sizes, so that changes fall all over the list.
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

/** What the writers have sent and what has been answered, per pet; each pet has one writer. */
export class Bounds {
  readonly sent: Float64Array;
  readonly answered: Float64Array;

  constructor(pets: number) {
    this.sent = new Float64Array(pets + 1);
    this.answered = new Float64Array(pets + 1);
  }
}

/** Raises one pet's quantity without end, and notes what was sent and answered. */
export class RaisingScript implements Script {
  readonly kind = "patch";
  readonly #target: Target;
  readonly #bounds: Bounds;
  readonly #petId: number;
  #quantity: number;
  #text = "";

  constructor(target: Target, bounds: Bounds, petId: number, quantity: number) {
    this.#target = target;
    this.#bounds = bounds;
    this.#petId = petId;
    this.#quantity = quantity;
    bounds.sent[petId] = quantity;
  }

  next(): string {
    this.#quantity++;
    this.#bounds.sent[this.#petId] = this.#quantity;
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
    this.#bounds.answered[this.#petId] = this.#quantity;
  }
}

/**
 * Reads the list while others write. No quantity may be older than what had been answered when the
 * read began, nor newer than what has been sent: a stale read and an invented one both fail.
 */
export class FreshnessScript implements Script {
  readonly kind = "get";
  readonly #request: Buffer;
  readonly #bounds: Bounds;
  readonly #entries: number;
  readonly #floor: Float64Array;
  #parts: Buffer[] = [];

  constructor(target: Target, bounds: Bounds, entries: number) {
    this.#request = Buffer.from(getRequest(target));
    this.#bounds = bounds;
    this.#entries = entries;
    this.#floor = new Float64Array(bounds.answered.length);
  }

  next(): Buffer {
    this.#floor.set(this.#bounds.answered);
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
    for (let petId = 1; petId < this.#floor.length; petId++) {
      const sent = this.#bounds.sent[petId]!;
      if (sent === 0) continue;
      const entry = list[petId - 1]!;
      const oldest = this.#floor[petId]!;
      if (entry.petId !== petId || entry.quantity < oldest || entry.quantity > sent) {
        throw new Error(
          `Pet ${petId} reads ${entry.quantity}; ${oldest} was answered before and ${sent} sent.`,
        );
      }
    }
  }
}
