import { BrokenText } from "./lines.ts";

/** An element of an XML text. Its content is not unescaped, because it can have elements. */
export interface Element {
  readonly attributes: string;
  readonly content: string;
}

/** More than a row of a sheet, or another element that is looked for, has. */
const elementCharactersMax = 4_000_000;

/**
 * Finds the elements with a name in an XML text that arrives in chunks. Other elements are skipped, and
 * prefixes of names ignored. Comments and document types, whose entities could expand a small file
 * without end, are refused: no program writes them into a workbook.
 */
export async function* elementsOf(
  name: string,
  chunks: AsyncIterable<Uint8Array>,
): AsyncGenerator<readonly Element[]> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const chunk of chunks) {
    const text = (rest + decoder.decode(chunk, { stream: true })).replace(/<(\/?)\w+:/g, "<$1");
    if (text.includes("<!"))
      throw new BrokenText(1, "the workbook has a document type or comments");
    const { elements, end } = elementsIn(name, text);
    yield elements;
    rest = text.slice(end);
    if (rest.length > elementCharactersMax) throw new BrokenText(1, "the workbook is damaged");
  }
  if (rest.includes(`<${name} `)) throw new BrokenText(1, "the workbook ends inside of a tag");
}

/** The elements in a text, and where the text after them starts that may begin another one. */
export function elementsIn(name: string, text: string) {
  const opening = new RegExp(`<${name}(?:\\s([^>]*))?/?>`, "g");
  const closing = `</${name}>`;
  const elements: Element[] = [];
  let end = 0;
  for (let match = opening.exec(text); match; match = opening.exec(text)) {
    const [, attributes = ""] = match;
    const from = opening.lastIndex;
    const isEmpty = match[0].endsWith("/>");
    const to = isEmpty ? from : text.indexOf(closing, from);
    if (to < 0) return { elements, end: match.index };
    elements.push({ attributes, content: text.slice(from, to) });
    end = isEmpty ? from : to + closing.length;
    opening.lastIndex = end;
  }
  // A tag may be cut at the end. Elements with other names are not kept.
  return { elements, end: Math.max(end, text.lastIndexOf("<")) };
}

/** The value of an attribute. */
export function attributeOf(attributes: string, name: string): string | undefined {
  const match = new RegExp(`(?:^|[\\s:])${name}=(?:"([^"]*)"|'([^']*)')`).exec(attributes);
  return match ? unescaped(match[1] ?? match[2]!) : undefined;
}

const entities = new Map(Object.entries({ lt: "<", gt: ">", amp: "&", quot: '"', apos: "'" }));

export function unescaped(text: string): string {
  if (!text.includes("&")) return text;
  return text.replace(/&(?:#x([0-9a-f]{1,5})|#([0-9]{1,6})|(\w+));/gi, (_, hex, decimal, name) => {
    const known = name ? entities.get(name) : String.fromCodePoint(Number(decimal ?? `0x${hex}`));
    if (known === undefined) throw new BrokenText(1, "the workbook has an unknown entity");
    return known;
  });
}
