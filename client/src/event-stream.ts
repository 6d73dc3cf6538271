/** One server-sent event. */
export interface ServerSentEvent {
  /** The type of the event: `message` if the stream names none. */
  readonly type: string;
  readonly data: string;
  /** The last id in the stream, which can be that of an earlier event. Empty if there was none. */
  readonly id: string;
}

/** The longest event of the service has a few thousand characters. */
export const eventCharactersMax = 262_144;

/**
 * Parses a stream of server-sent events (WHATWG HTML, section 9.2.6). The chunks can end anywhere,
 * also inside a character or between CR and LF. An event that is not complete when the stream ends
 * is dropped, as the standard demands.
 */
export class EventStreamParser {
  /** Removes a byte order mark, and replaces invalid bytes. */
  readonly #decoder = new TextDecoder();
  /** The start of a line whose end has not arrived. */
  #line = "";
  #endsWithReturn = false;
  #type = "";
  /** The data lines of the current event, each with a line break at its end. */
  #data = "";
  #id = "";
  #retryMs: number | undefined;

  /** The last `retry` in the stream: how long to wait before a new connection. */
  get retryMs(): number | undefined {
    return this.#retryMs;
  }

  /**
   * Returns the events that the chunk completes. They are parsed as they are taken, so take all of
   * them before the next chunk. Throws a RangeError for an event of more than `eventCharactersMax`
   * characters, because it would have to be kept in memory.
   */
  *parse(chunk: Uint8Array): Generator<ServerSentEvent, void, undefined> {
    const text = this.#decoder.decode(chunk, { stream: true });
    if (text === "") return;
    // A chunk that ended with CR has ended its line. LF belongs to that CR.
    let start = this.#endsWithReturn && text[0] === "\n" ? 1 : 0;
    this.#endsWithReturn = text.endsWith("\r");
    const lineEnd = /\r\n|\r|\n/g;
    lineEnd.lastIndex = start;
    for (let end = lineEnd.exec(text); end !== null; end = lineEnd.exec(text)) {
      const line = this.#line + text.slice(start, end.index);
      this.#line = "";
      start = lineEnd.lastIndex;
      const event = this.#readLine(line);
      if (event !== undefined) yield event;
    }
    this.#line += text.slice(start);
    this.#checkSize(this.#line.length);
  }

  #readLine(line: string): ServerSentEvent | undefined {
    if (line === "") return this.#finishEvent();
    this.#checkSize(line.length);
    const colon = line.indexOf(":");
    const name = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(colon + (line[colon + 1] === " " ? 2 : 1));
    // A line that begins with a colon is a comment: its name is empty.
    if (name === "event") this.#type = value;
    else if (name === "data") this.#data += `${value}\n`;
    else if (name === "id" && !value.includes("\0")) this.#id = value;
    else if (name === "retry" && /^\d{1,9}$/.test(value)) this.#retryMs = Number(value);
    return undefined;
  }

  /** An event without data is not reported, as the standard demands. */
  #finishEvent(): ServerSentEvent | undefined {
    const type = this.#type === "" ? "message" : this.#type;
    const data = this.#data;
    this.#type = "";
    this.#data = "";
    return data === "" ? undefined : { type, data: data.slice(0, -1), id: this.#id };
  }

  #checkSize(lineLength: number): void {
    if (lineLength + this.#data.length <= eventCharactersMax) return;
    throw new RangeError(`an event has more than ${eventCharactersMax} characters`);
  }
}
