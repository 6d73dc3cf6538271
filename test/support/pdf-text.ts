// Reads the text of a PDF that Chromium made: enough to tell what is on which page.
import { inflateSync } from "node:zlib";

/** The text of each page, without spaces: a PDF has places of glyphs instead. */
export function pdfPages(pdf: Buffer): readonly string[] {
  const source = pdf.toString("latin1");
  const objects = new Map<string, string>();
  for (const [, id, body] of source.matchAll(/^(\d+) 0 obj\s([\s\S]*?)\nendobj/gm)) {
    objects.set(id!, body!);
  }
  const referred = (body: string, name: string) =>
    objects.get(new RegExp(`/${name} (\\d+) 0 R`).exec(body)?.[1] ?? "") ?? "";
  const pages = [...objects.values()].filter((body) => /\/Type \/Page\b(?!s)/.test(body));
  return pages.map((page) => {
    const fonts = new Map<string, ReadonlyMap<string, string>>();
    for (const [, name, id] of page.matchAll(/\/(F\d+) (\d+) 0 R/g)) {
      fonts.set(name!, readGlyphs(streamOf(referred(objects.get(id!)!, "ToUnicode"))));
    }
    return readText(streamOf(referred(page, "Contents")), fonts);
  });
}

function streamOf(body: string): string {
  const [, data] = /stream\r?\n([\s\S]*?)\r?\nendstream/.exec(body) ?? [];
  if (data === undefined) return "";
  const bytes = Buffer.from(data, "latin1");
  return body.includes("/FlateDecode") ? inflateSync(bytes).toString("latin1") : data;
}

/** Which character each glyph of a font stands for. */
function readGlyphs(map: string): ReadonlyMap<string, string> {
  const glyphs = new Map<string, string>();
  const characterOf = (hex: string, offset = 0) =>
    String.fromCodePoint(Number.parseInt(hex, 16) + offset);
  for (const [, part] of map.matchAll(/beginbfchar\n([\s\S]*?)endbfchar/g)) {
    for (const [, glyph, hex] of part!.matchAll(/<(\w{4})> <(\w+)>/g)) {
      glyphs.set(glyph!.toUpperCase(), characterOf(hex!));
    }
  }
  for (const [, part] of map.matchAll(/beginbfrange\n([\s\S]*?)endbfrange/g)) {
    for (const [, first, last, hex] of part!.matchAll(/<(\w{4})> <(\w{4})> <(\w+)>/g)) {
      const start = Number.parseInt(first!, 16);
      for (let glyph = start; glyph <= Number.parseInt(last!, 16); glyph += 1) {
        const key = glyph.toString(16).toUpperCase().padStart(4, "0");
        glyphs.set(key, characterOf(hex!, glyph - start));
      }
    }
  }
  return glyphs;
}

function readText(content: string, fonts: ReadonlyMap<string, ReadonlyMap<string, string>>) {
  let text = "";
  let glyphs: ReadonlyMap<string, string> = new Map();
  for (const [, font, hex] of content.matchAll(/\/(F\d+) [\d.]+ Tf|<([\dA-Fa-f]+)>/g)) {
    if (font !== undefined) glyphs = fonts.get(font) ?? new Map();
    else
      for (const glyph of hex!.match(/.{4}/g) ?? []) text += glyphs.get(glyph.toUpperCase()) ?? "";
  }
  return text.replaceAll(/\s/g, "");
}
