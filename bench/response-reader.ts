// A minimal, fast reader of HTTP/1.1 responses: heads, bodies with Content-Length, chunked bodies.
// It checks everything that determines where a response ends.

/** Receives one response: its head, its body in pieces (valid only during the call), its end. */
export interface ResponseListener {
  head(head: Head): void;
  body(bytes: Buffer, offset: number): void;
  end(length: number): void;
}

const headEnd = Buffer.from("\r\n\r\n");
const lineEnd = Buffer.from("\r\n");

export class ResponseReader {
  readonly #listener: ResponseListener;
  readonly #headerNames: HeaderNames;
  #incomplete: Buffer | undefined;
  #state: "head" | "length" | "chunk-size" | "chunk" | "chunk-end" | "trailer" = "head";
  #left = 0;
  #offset = 0;

  constructor(listener: ResponseListener, headerNames: HeaderNames) {
    this.#listener = listener;
    this.#headerNames = headerNames;
  }

  push(chunk: Buffer): void {
    let bytes = chunk;
    if (this.#incomplete !== undefined) {
      bytes = Buffer.concat([this.#incomplete, chunk]);
      this.#incomplete = undefined;
    }
    let at = 0;
    while (at < bytes.length) {
      const next = this.#step(bytes, at);
      if (next < 0) {
        this.#incomplete = Buffer.from(bytes.subarray(at));
        return;
      }
      at = next;
    }
  }

  /** Reads one piece from `at`. Returns where the next begins, or -1 if more bytes are needed. */
  #step(bytes: Buffer, at: number): number {
    switch (this.#state) {
      case "head":
        return this.#readHead(bytes, at);
      case "length":
      case "chunk":
        return this.#readBody(bytes, at);
      case "chunk-size": {
        const end = bytes.indexOf(lineEnd, at);
        if (end < 0) return -1;
        this.#left = Number.parseInt(bytes.toString("latin1", at, end), 16);
        if (Number.isNaN(this.#left)) throw new Error("A chunk has an invalid size.");
        this.#state = this.#left === 0 ? "trailer" : "chunk";
        return end + 2;
      }
      case "chunk-end":
        if (bytes.length < at + 2) return -1;
        this.#state = "chunk-size";
        return at + 2;
      case "trailer":
        if (bytes.length < at + 2) return -1;
        this.#end();
        return at + 2;
    }
  }

  #readHead(bytes: Buffer, at: number): number {
    const end = bytes.indexOf(headEnd, at);
    if (end < 0) return -1;
    const head = new Head(bytes.toString("latin1", at, end + 2), this.#headerNames);
    this.#offset = 0;
    this.#listener.head(head);
    const length = head.find("content-length");
    if (length !== undefined) {
      this.#left = Number(length);
      if (!Number.isSafeInteger(this.#left)) throw new Error(`Content-Length is ${length}.`);
      this.#state = "length";
      if (this.#left === 0) this.#end();
    } else if (head.find("transfer-encoding") === "chunked") {
      this.#state = "chunk-size";
    } else {
      throw new Error(`A response has no length: ${head.text}`);
    }
    return end + 4;
  }

  #readBody(bytes: Buffer, at: number): number {
    const take = Math.min(this.#left, bytes.length - at);
    const whole = at === 0 && take === bytes.length;
    this.#listener.body(whole ? bytes : bytes.subarray(at, at + take), this.#offset);
    this.#offset += take;
    this.#left -= take;
    if (this.#left === 0) {
      if (this.#state === "chunk") this.#state = "chunk-end";
      else this.#end();
    }
    return at + take;
  }

  #end(): void {
    this.#state = "head";
    this.#listener.end(this.#offset);
  }
}

/**
 * Header names as the server writes them, by lower-case name. Filled at the first look-up, so that
 * every later one is an exact search.
 */
export type HeaderNames = Map<string, string>;

export class Head {
  readonly text: string;
  readonly #headerNames: HeaderNames;

  constructor(text: string, headerNames: HeaderNames) {
    this.text = text;
    this.#headerNames = headerNames;
  }

  get status(): number {
    return Number(this.text.slice(9, 12));
  }

  /** Returns the value of a header. The name is in lower case. */
  find(name: string): string | undefined {
    let written = this.#headerNames.get(name);
    let at = written === undefined ? -1 : this.text.indexOf(written);
    if (at < 0) {
      at = this.text.toLowerCase().indexOf(`\r\n${name}: `);
      if (at < 0) return undefined;
      written = this.text.slice(at, at + name.length + 4);
      this.#headerNames.set(name, written);
    }
    const start = at + name.length + 4;
    return this.text.slice(start, this.text.indexOf("\r\n", start));
  }
}
