// Scripts of the operations on the ledger: batches of changes, and pages of rows.
import { quantityMax, quantityMin } from "./catalogue.ts";
import type { Head } from "./response-reader.ts";
import { checkHead, getRequest, jsonRequest, type Script, type Target } from "./scripts.ts";

/** Sets the pets 1 to `changes` in one request. The response must contain each of them in order. */
export class BatchScript implements Script {
  readonly kind = "patch";
  readonly #target: Target;
  readonly #changes: number;
  #quantity: number;
  #text = "";

  /** Scripts that run in parallel set different quantities, so that every change is a change. */
  constructor(target: Target, changes: number, index: number) {
    this.#target = target;
    this.#changes = changes;
    this.#quantity = quantityMin + index * 37;
  }

  next(): string {
    this.#quantity = this.#quantity >= quantityMax ? quantityMin : this.#quantity + 1;
    const changes: string[] = [];
    for (let petId = 1; petId <= this.#changes; petId++) {
      changes.push(`{"petId":${petId},"quantity":${this.#quantity}}`);
    }
    return jsonRequest(this.#target, "POST /v1/changes", `{"changes":[${changes.join()}]}`);
  }

  body(bytes: Buffer): void {
    this.#text += bytes.toString("latin1");
  }

  finish(head: Head): void {
    checkHead(head);
    const { entries } = JSON.parse(this.#text) as {
      entries: { petId: number; quantity: number }[];
    };
    this.#text = "";
    const isExpected =
      entries.length === this.#changes &&
      entries.every((entry, at) => entry.petId === at + 1 && entry.quantity === this.#quantity);
    if (!isExpected) throw new Error("A batch returned other entries than it set.");
  }
}

/** Reads a page of ledger rows again and again. */
export class PageScript implements Script {
  readonly kind = "get";
  readonly #request: Buffer;
  readonly #rows: number;
  #text = "";

  constructor(target: Target, path: string, rows: number) {
    this.#request = Buffer.from(getRequest(target, path));
    this.#rows = rows;
  }

  next(): Buffer {
    return this.#request;
  }

  body(bytes: Buffer): void {
    this.#text += bytes.toString("latin1");
  }

  finish(head: Head): void {
    checkHead(head);
    const rows = this.#text.split('"seq":').length - 1;
    this.#text = "";
    if (rows !== this.#rows) throw new Error(`A page has ${rows} rows, not ${this.#rows}.`);
  }
}
