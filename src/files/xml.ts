import { BrokenText } from "./lines.ts";

/**
 * A tag of an XML text, such as `<row r="1">`, `</row>` or `<row/>`. It is valid until the next one is read.
 */
export class Tag {
  /** Without its prefix. */
  name = "";
  isStart = false;
  /** True for `<row/>`, too. */
  isEnd = false;
  #text = "";
  #before = 0;
  #start = 0;
  #end = 0;
  #attributes: string | undefined;

  /** The tag between two positions, and where the text before it starts. */
  set(text: string, before: number, start: number, end: number): void {
    this.#text = text;
    this.#before = before;
    this.#start = start;
    this.#end = end;
    this.isStart = text.charCodeAt(start + 1) !== slash;
    this.isEnd = !this.isStart || text.charCodeAt(end - 2) === slash;
    let from = this.isStart ? start + 1 : start + 2;
    for (let next = from; ; next++) {
      const code = text.charCodeAt(next);
      if (code === colon) from = next + 1;
      else if (code <= space || code === slash || code === greater) {
        this.name = text.slice(from, next);
        // Most tags have none.
        this.#attributes = code > space ? "" : undefined;
        return;
      }
    }
  }

  /** The characters of the tag, and of the text since the tag before it. */
  get characters(): number {
    return this.#end - this.#before;
  }

  get attributes(): string {
    this.#attributes ??= this.#text.slice(this.#start, this.#end);
    return this.#attributes;
  }

  /** The text between the tag before and this one, still escaped. */
  get before(): string {
    return this.#text.slice(this.#before, this.#start);
  }
}

const codes = [">", "/", ":", " ", '"', "'"].map((one) => one.charCodeAt(0));
const [greater, slash, colon, space, quote, apostrophe] = codes as Codes;
type Codes = [number, number, number, number, number, number];

/** More than a cell can have, with all characters written as numbers. */
const pieceCharactersMax = 400_000;

/** The tags that each chunk of a text completes. Each iterable must be read to its end. */
export type Tags = AsyncGenerator<Iterable<Tag>>;

/**
 * Reads the tags of an XML text that arrives in chunks, in one pass and without keeping any. Comments and
 * document types, whose entities could expand a small file without end, are refused: no program writes
 * them into a workbook. A text that is cut off ends with its last whole tag.
 */
export async function* tagsOf(
  chunks: AsyncIterable<Uint8Array>,
  elementsMax: number,
  part: string,
): Tags {
  const decoder = new TextDecoder();
  const tag = new Tag();
  let rest = "";
  let elements = 0;
  function* tagsIn(text: string) {
    let from = 0;
    for (;;) {
      const at = text.indexOf("<", from);
      const end = at < 0 ? 0 : endOfTag(text, at);
      if (end === 0) break;
      if (text.startsWith("!", at + 1)) {
        throw new BrokenText(1, "the workbook has comments or a document type");
      }
      tag.set(text, from, at, end);
      if (tag.isStart) elements += 1;
      if (elements > elementsMax) {
        throw new BrokenText(1, `${part} has more than ${elementsMax} elements`);
      }
      from = end;
      yield tag;
    }
    rest = text.slice(from);
    if (rest.length > pieceCharactersMax) {
      throw new BrokenText(
        1,
        `${part} has a tag or text of more than ${pieceCharactersMax} characters`,
      );
    }
  }
  for await (const chunk of chunks) yield tagsIn(rest + decoder.decode(chunk, { stream: true }));
}

/** The position after the tag that starts at `at`, or 0 if it is not complete. */
function endOfTag(text: string, at: number): number {
  let closing = 0;
  for (let next = at + 1; next < text.length; next++) {
    const code = text.charCodeAt(next);
    if (closing !== 0) closing = code === closing ? 0 : closing;
    else if (code === greater) return next + 1;
    else if (code === quote || code === apostrophe) closing = code;
  }
  return 0;
}

/** Reads the attribute with this name, with any prefix. */
export function attribute(name: string): (tag: Tag) => string | undefined {
  const start = `${name}=`;
  return ({ attributes }) => {
    let at = attributes.indexOf(start);
    while (at > 0 && !isBeforeName(attributes.charCodeAt(at - 1))) {
      at = attributes.indexOf(start, at + 1);
    }
    const value = at + start.length + 1;
    const mark = attributes[value - 1];
    if (at < 0 || (mark !== '"' && mark !== "'")) return undefined;
    return unescaped(attributes.slice(value, attributes.indexOf(mark, value)));
  };
}

const isBeforeName = (code: number) => code <= space || code === colon;

const entities = new Map(Object.entries({ lt: "<", gt: ">", amp: "&", quot: '"', apos: "'" }));

export function unescaped(text: string): string {
  if (!text.includes("&")) return text;
  return text.replace(/&(?:#(x[0-9a-f]{1,5}|[0-9]{1,6})|(\w+));/gi, (_, code, name) => {
    const known = code
      ? String.fromCodePoint(Number(code.replace(/^x/i, "0x")))
      : entities.get(name);
    if (known === undefined) throw new BrokenText(1, "the workbook has an unknown entity");
    return known;
  });
}
