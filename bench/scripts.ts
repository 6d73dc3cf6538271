// Scripts: what one connection sends, and the checks of each response. A wrong response throws.
import { quantityMax, quantityMin } from "./catalogue.ts";
import type { Head } from "./response-reader.ts";

export interface Target {
  host: string;
  port: number;
  key: string;
}

export type Kind = "get" | "patch";

export interface Script {
  /** The kind of the request that `next` returned last. */
  readonly kind: Kind;
  next(): string | Buffer;
  body(bytes: Buffer, offset: number): void;
  finish(head: Head, length: number): void;
}

export function getRequest(target: Target, path = "/v1/inventory"): string {
  return `GET ${path} HTTP/1.1\r\nHost: ${target.host}:${target.port}\r\nAuthorization: Bearer ${target.key}\r\n\r\n`;
}

export function checkHead(head: Head): void {
  if (!head.text.startsWith("HTTP/1.1 200 ")) throw new Error(`Not a 200: ${head.text}`);
  for (const name of ["x-ratelimit-limit", "x-ratelimit-remaining", "x-ratelimit-reset"]) {
    const value = head.find(name);
    if (value === undefined || !/^\d+$/.test(value)) {
      throw new Error(`Missing or invalid ${name}: ${head.text}`);
    }
  }
}

/** Reads the list; every body must be the expected bytes. */
export class GetScript implements Script {
  readonly kind = "get";
  readonly #request: Buffer;
  readonly #expected: Buffer;

  constructor(target: Target, expected: Buffer) {
    this.#request = Buffer.from(getRequest(target));
    this.#expected = expected;
  }

  next(): Buffer {
    return this.#request;
  }

  body(bytes: Buffer, offset: number): void {
    const end = offset + bytes.length;
    if (
      end > this.#expected.length ||
      this.#expected.compare(bytes, 0, bytes.length, offset, end)
    ) {
      throw new Error(`The list differs from the expected one between bytes ${offset} and ${end}.`);
    }
  }

  finish(head: Head, length: number): void {
    checkHead(head);
    if (length !== this.#expected.length) throw new Error(`The list has ${length} bytes.`);
  }
}

export interface PatchOptions {
  /** Sends a new idempotency key with each request. */
  readonly sendsKeys?: boolean;
  /** Chooses the pets at random instead of in turn. */
  readonly isRandom?: boolean;
}

/** Updates a range of pets. Each response must contain the pet id and the quantity sent. */
export class PatchScript implements Script {
  readonly kind = "patch";
  readonly #target: Target;
  readonly #petIdFirst: number;
  readonly #petIdStep: number;
  readonly #petIdLast: number;
  readonly #isRandom: boolean;
  /** Starts every idempotency key of this script; undefined if it sends none. */
  readonly #keyPrefix: string | undefined;
  #petId: number;
  #quantity: number;
  #requests = 0;
  #text = "";

  /** Updates every `step`th pet from `first` to `last`, so that parallel scripts share no pet. */
  constructor(
    target: Target,
    first: number,
    step: number,
    last: number,
    quantity: number,
    { sendsKeys = false, isRandom = false }: PatchOptions = {},
  ) {
    this.#target = target;
    this.#petIdFirst = first;
    this.#petIdStep = step;
    this.#petIdLast = last;
    this.#isRandom = isRandom;
    this.#petId = first - step;
    this.#quantity = quantity;
    this.#keyPrefix = sendsKeys ? crypto.randomUUID() : undefined;
  }

  get petId(): number {
    return this.#petId;
  }

  get quantity(): number {
    return this.#quantity;
  }

  next(): string {
    this.#petId = this.#nextPetId();
    this.#quantity = this.#quantity === quantityMax ? quantityMin : this.#quantity + 1;
    const key = this.#keyPrefix && `${this.#keyPrefix}-${++this.#requests}`;
    return patchRequest(this.#target, this.#petId, this.#quantity, key);
  }

  #nextPetId(): number {
    if (this.#isRandom) {
      const pets = 1 + Math.floor((this.#petIdLast - this.#petIdFirst) / this.#petIdStep);
      return this.#petIdFirst + this.#petIdStep * Math.floor(Math.random() * pets);
    }
    const next = this.#petId + this.#petIdStep;
    return next > this.#petIdLast ? this.#petIdFirst : next;
  }

  body(bytes: Buffer): void {
    this.#text += bytes.toString("latin1");
  }

  finish(head: Head): void {
    checkHead(head);
    const text = this.#text;
    this.#text = "";
    checkEntry(text, this.#petId, this.#quantity);
  }
}

/** `key` is the idempotency key. */
export function patchRequest(
  target: Target,
  petId: number,
  quantity: number,
  key?: string,
): string {
  const headers = key === undefined ? "" : `Idempotency-Key: "${key}"\r\n`;
  return jsonRequest(target, `PATCH /v1/inventory/${petId}`, `{"quantity":${quantity}}`, headers);
}

/** `operation` is the method and the path. The body is ASCII. */
export function jsonRequest(target: Target, operation: string, body: string, headers = ""): string {
  return `${operation} HTTP/1.1\r\nHost: ${target.host}:${target.port}\r\nAuthorization: Bearer ${target.key}\r\nContent-Type: application/json\r\n${headers}Content-Length: ${body.length}\r\n\r\n${body}`;
}

/** Compares the digits, not parsed numbers, so that a rounded number is detected. */
export function checkEntry(text: string, petId: number, quantity: number): void {
  if (!hasNumber(text, "petId", petId) || !hasNumber(text, "quantity", quantity)) {
    throw new Error(`Pet ${petId} was set to ${quantity}, but the response is ${text}`);
  }
}

function hasNumber(text: string, field: string, value: number): boolean {
  const member = `"${field}":${value}`;
  const at = text.indexOf(member);
  if (at < 0) return false;
  const after = text[at + member.length];
  return after === "," || after === "}";
}
