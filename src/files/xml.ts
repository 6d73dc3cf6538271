import { BrokenText } from "./lines.ts";

/** Takes the parts of an XML text. Names have no prefix, and attributes are read with `attributeOf`. */
export interface XmlParts {
  open(name: string, attributes: string): void;
  text(text: string): void;
  close(name: string): void;
}

/** More than a tag, or a text between two tags, has in a workbook. */
const partCharactersMax = 1_000_000;

const tag = /<(\/?)([^\s/>]+)((?:[^>"']|"[^"]*"|'[^']*')*)>/y;

/**
 * Splits an XML text that arrives in pieces. It does not check that tags match: it is for files of
 * other programs, and finds what it looks for. A document type is refused, because its entities could
 * expand a small file without end.
 */
export function createXmlScanner(parts: XmlParts) {
  let rest = "";

  /** Takes what starts at `start` with `<`. Returns where it ends, or -1 if the piece ends before. */
  function takeMarkup(text: string, start: number): number {
    if (text.startsWith("<?", start)) return endOf(text, "?>", start);
    if (text.startsWith("<!--", start)) return endOf(text, "-->", start + 4);
    if (text.startsWith("<![CDATA[", start)) {
      const end = endOf(text, "]]>", start);
      if (end >= 0) parts.text(text.slice(start + 9, end - 3));
      return end;
    }
    if (text.startsWith("<!D", start)) throw new BrokenText(1, "the workbook has a document type");
    tag.lastIndex = start;
    const match = tag.exec(text);
    if (!match) return -1;
    const [, slash, fullName, attributes] = match;
    const name = fullName!.slice(fullName!.indexOf(":") + 1);
    if (slash === "") parts.open(name, attributes!);
    if (slash === "/" || attributes!.endsWith("/")) parts.close(name);
    return tag.lastIndex;
  }

  return {
    take(piece: string): void {
      const text = rest + piece;
      let at = 0;
      for (let start = text.indexOf("<"); start >= 0; start = text.indexOf("<", at)) {
        if (start > at) parts.text(unescaped(text.slice(at, start)));
        at = start;
        const next = takeMarkup(text, start);
        if (next < 0) break;
        at = next;
      }
      rest = text.slice(at);
      if (rest.length > partCharactersMax) throw new BrokenText(1, "the workbook is damaged");
    },
    end(): void {
      if (rest.includes("<")) throw new BrokenText(1, "the workbook is damaged: it ends in a tag");
    },
  };
}

function endOf(text: string, mark: string, from: number): number {
  const at = text.indexOf(mark, from);
  return at < 0 ? -1 : at + mark.length;
}

/** The value of an attribute. Prefixes of names are ignored. */
export function attributeOf(attributes: string, name: string): string | undefined {
  let pattern = patterns.get(name);
  if (!pattern) {
    pattern = new RegExp(`(?:^|[\\s:])${name}\\s*=\\s*(?:"([^"]*)"|'([^']*)')`);
    patterns.set(name, pattern);
  }
  const match = pattern.exec(attributes);
  return match ? unescaped(match[1] ?? match[2]!) : undefined;
}

/** One for each name that this program looks for. */
const patterns = new Map<string, RegExp>();

const entities = new Map(Object.entries({ lt: "<", gt: ">", amp: "&", quot: '"', apos: "'" }));

function unescaped(text: string): string {
  if (!text.includes("&")) return text;
  return text.replace(/&(?:#x([0-9a-f]{1,6})|#([0-9]{1,7})|(\w+));/gi, (_, hex, decimal, name) => {
    const code = hex ? Number.parseInt(hex, 16) : Number(decimal);
    const known = name
      ? entities.get(name)
      : code <= 0x10ffff
        ? String.fromCodePoint(code)
        : undefined;
    if (known === undefined) throw new BrokenText(1, "the workbook has an unknown entity");
    return known;
  });
}
