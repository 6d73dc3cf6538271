// Just enough HTTP/1.1 to read answers at full speed: heads, bodies by Content-Length, chunked
// bodies. It trusts nothing that it needs to find the end of an answer.

/** Hears one answer: its head, its body piece by piece (views, valid only during the call), its end. */
export interface AnswerListener {
  head(head: Head): void;
  body(bytes: Buffer, offset: number): void;
  end(length: number): void;
}

const headEnd = Buffer.from("\r\n\r\n");
const lineEnd = Buffer.from("\r\n");

export class AnswerReader {
  readonly #listener: AnswerListener;
  readonly #spellings: Spellings;
  #held: Buffer | undefined;
  #state: "head" | "length" | "chunk-size" | "chunk" | "chunk-end" | "trailer" = "head";
  #left = 0;
  #offset = 0;

  constructor(listener: AnswerListener, spellings: Spellings) {
    this.#listener = listener;
    this.#spellings = spellings;
  }

  push(chunk: Buffer): void {
    let bytes = chunk;
    if (this.#held !== undefined) {
      bytes = Buffer.concat([this.#held, chunk]);
      this.#held = undefined;
    }
    let at = 0;
    while (at < bytes.length) {
      const next = this.#step(bytes, at);
      if (next < 0) {
        this.#held = Buffer.from(bytes.subarray(at));
        return;
      }
      at = next;
    }
  }

  /** Reads one piece from `at` and returns where the next begins, or -1 if the piece is not whole. */
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
        if (Number.isNaN(this.#left)) throw new Error("A chunk has no readable size.");
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
    const head = new Head(bytes.toString("latin1", at, end + 2), this.#spellings);
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
      throw new Error(`An answer without a length: ${head.text}`);
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

/** How a server spells its header names, learned once, so that each look-up is one exact search. */
export type Spellings = Map<string, string>;

export class Head {
  readonly text: string;
  readonly #spellings: Spellings;

  constructor(text: string, spellings: Spellings) {
    this.text = text;
    this.#spellings = spellings;
  }

  get status(): number {
    return Number(this.text.slice(9, 12));
  }

  /** The value of a header, its name given in lower case. */
  find(name: string): string | undefined {
    let spelled = this.#spellings.get(name);
    let at = spelled === undefined ? -1 : this.text.indexOf(spelled);
    if (at < 0) {
      at = this.text.toLowerCase().indexOf(`\r\n${name}: `);
      if (at < 0) return undefined;
      spelled = this.text.slice(at, at + name.length + 4);
      this.#spellings.set(name, spelled);
    }
    const start = at + name.length + 4;
    return this.text.slice(start, this.text.indexOf("\r\n", start));
  }
}
