import { BrokenText, boundRecord } from "./lines.ts";

/** An element of an XML text. Its content is not unescaped, because it can have elements. */
export interface Element {
  readonly attributes: string;
  readonly content: string;
}

/** Finds an element, with any prefix. One that is not closed ends with the text. */
export function elementPattern(name: string): RegExp {
  const tag = `(?:\\w+:)?${name}`;
  return new RegExp(`<${tag}(\\s[^<>]*?)?(?:/>|>(.*?)(</${tag}>|$))`, "gs");
}

/**
 * Finds elements in an XML text that arrives in chunks. Other elements are skipped. Comments and document
 * types, whose entities could expand a small file without end, are refused: no program writes them into a
 * workbook.
 */
export async function* elementsOf(
  name: string,
  chunks: AsyncIterable<Uint8Array>,
): AsyncGenerator<readonly Element[]> {
  const decoder = new TextDecoder();
  const pattern = elementPattern(name);
  let rest = "";
  let isCut = false;
  for await (const chunk of chunks) {
    const text = rest + decoder.decode(chunk, { stream: true });
    if (text.includes("<!"))
      throw new BrokenText(1, "the workbook has comments or a document type");
    const found = [...text.matchAll(pattern)];
    const last = found.at(-1);
    isCut = last?.[3] === "";
    if (isCut) found.pop();
    // A tag may be cut at the end, too. Elements with other names are not kept.
    const end = last ? last.index + last[0].length : 0;
    rest = boundRecord(1, text.slice(isCut ? last!.index : Math.max(end, text.lastIndexOf("<"))));
    yield found.map(elementOf);
  }
  if (isCut) throw new BrokenText(1, "the workbook ends inside of an element");
}

/** The elements in a complete text. */
export function elementsIn(pattern: RegExp, text: string): readonly Element[] {
  return Array.from(text.matchAll(pattern), elementOf);
}

function elementOf([, attributes = "", content = ""]: RegExpMatchArray): Element {
  return { attributes, content };
}

/** The value of an attribute. */
export function attributeOf(attributes: string, name: string): string | undefined {
  const match = new RegExp(`[\\s:]${name}=(?:"([^"]*)"|'([^']*)')`).exec(attributes);
  return match ? unescaped(match[1] ?? match[2]!) : undefined;
}

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
