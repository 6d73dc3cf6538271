import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import {
  EventStreamParser,
  eventCharactersMax,
  type ServerSentEvent,
} from "../../client/src/event-stream.ts";
import { runs } from "../support/properties/runs.ts";

const encode = (text: string) => new TextEncoder().encode(text);

function parse(...chunks: (Uint8Array | string)[]): ServerSentEvent[] {
  const parser = new EventStreamParser();
  const bytes = chunks.map((chunk) => (typeof chunk === "string" ? encode(chunk) : chunk));
  return bytes.flatMap((chunk) => [...parser.parse(chunk)]);
}

const message = (data: string, id = "") => ({ type: "message", data, id });

describe("a stream of server-sent events", () => {
  /** Includes what a wrong parser stumbles over: colons, spaces, and characters of 2 to 4 bytes. */
  const text = fc
    .array(fc.constantFrom("a", "data", ":", " ", "é", "€", "🐈", "\u2028", "\ufeff", "7"))
    .map((parts) => parts.join(""));
  const lineEnd = fc.constantFrom("\n", "\r\n", "\r");
  const written = fc.record({
    type: fc.option(text, { nil: undefined }),
    lines: fc.array(text, { maxLength: 3 }),
    id: fc.option(text, { nil: undefined }),
    noise: fc.constantFrom("", ": comment", "unknown: field", "no colon", "retry: soon", "id: \0"),
    space: fc.constantFrom("", " "),
  });

  test("is read the same, wherever its chunks end and whichever line ends it has", () => {
    fc.assert(
      fc.property(
        fc.array(written, { maxLength: 6 }),
        fc.infiniteStream(lineEnd),
        fc.boolean(),
        fc.array(fc.nat(12)),
        (events, lineEnds, hasMark, sizes) => {
          const expected: ServerSentEvent[] = [];
          let id = "";
          let stream = hasMark ? "\ufeff" : "";
          for (const event of events) {
            id = event.id ?? id;
            // One space after the colon belongs to the format, so a value that begins with one needs two.
            const field = (name: string, value: string) =>
              `${name}:${value.startsWith(" ") ? " " : event.space}${value}`;
            const fields = [
              ...(event.noise === "" ? [] : [event.noise]),
              ...(event.type === undefined ? [] : [field("event", event.type)]),
              ...event.lines.map((line) => field("data", line)),
              ...(event.id === undefined ? [] : [field("id", event.id)]),
              "",
            ];
            // One kind per event: a CR before an empty line that ends with LF would be one CRLF.
            const end = lineEnds.next().value;
            for (const line of fields) stream += line + end;
            const data = event.lines.join("\n");
            if (event.lines.length > 0) {
              expected.push({ type: event.type || "message", data, id });
            }
          }
          // An event whose end does not arrive is not reported.
          const bytes = encode(`${stream}data: unfinished`);
          const chunks: Uint8Array[] = [];
          let start = 0;
          for (const size of sizes) {
            chunks.push(bytes.subarray(start, start + size));
            start += size;
          }
          chunks.push(bytes.subarray(start));
          expect(parse(...chunks)).toEqual(expected);
          expect(parse(...[...bytes].map((byte) => Uint8Array.of(byte)))).toEqual(expected);
        },
      ),
      runs(300),
    );
  });

  test("can mix line ends, and a CR ends an event before the LF arrives", () => {
    const parser = new EventStreamParser();
    expect([...parser.parse(encode("data: 1\ndata: 2\r\ndata: 3\r\r"))]).toEqual([
      message("1\n2\n3"),
    ]);
    expect([...parser.parse(encode("\ndata: 4\r"))]).toEqual([]);
    expect([...parser.parse(encode("\n"))]).toEqual([]);
    expect([...parser.parse(encode("\r"))]).toEqual([message("4")]);
  });

  test("keeps an id for later events, and skips events without data", () => {
    expect(parse("id: 7\n\ndata: a\n\nevent: x\n\ndata: b\nid\n\n")).toEqual([
      message("a", "7"),
      message("b"),
    ]);
    expect(parse("data\n\ndata:\ndata:\n\n")).toEqual([message(""), message("\n")]);
  });

  test("tells how long to wait before a new connection", () => {
    const parser = new EventStreamParser();
    expect(parser.retryMs).toBeUndefined();
    for (const value of ["-1", "1.5", "1e3", "", "99999999999"]) {
      expect([...parser.parse(encode(`retry: ${value}\n\n`))]).toEqual([]);
      expect(parser.retryMs).toBeUndefined();
    }
    expect([...parser.parse(encode("retry: 2500\nretry: x\n"))]).toEqual([]);
    expect(parser.retryMs).toBe(2500);
  });

  test("is rejected if an event is too long to be kept, on one line or on many", () => {
    const part = "x".repeat(1024);
    const endless = (chunk: string) => () => {
      const parser = new EventStreamParser();
      for (let sent = 0; sent <= eventCharactersMax; sent += 1024) {
        expect([...parser.parse(encode(chunk))]).toEqual([]);
      }
    };
    expect(endless(part)).toThrow(RangeError);
    expect(endless(`data: ${part}\n`)).toThrow(RangeError);
    const longest = "x".repeat(eventCharactersMax - "data: ".length);
    expect(parse(`data: ${longest}\n\n`)).toEqual([message(longest)]);
  });
});
