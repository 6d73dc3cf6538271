import { BrokenText } from "./lines.ts";
import { type Tag, type Tags, unescaped } from "./xml.ts";

/** A cell of a spreadsheet has at most so many. */
const textCharactersMax = 32_767;
/** Real lists have a few texts per row. All are in memory, as UTF-8. */
const textsMax = 2_000_000;
const textsBytesMax = 24 * 1_048_576;

export function boundText(text: string): string {
  if (text.length <= textCharactersMax) return text;
  throw new BrokenText(1, `a text of the workbook has more than ${textCharactersMax} characters`);
}

/**
 * Puts a text together. It can have several parts with different fonts. Their phonetic readings are left
 * out.
 */
export function createTextReader() {
  let text = "";
  let isReading = false;
  return {
    take({ name, isStart, isEnd, before }: Tag): void {
      if (name === "rPh") isReading = !isEnd;
      else if (name === "t" && !isStart && !isReading) text = boundText(text + unescaped(before));
    },
    /** The text since the last call. */
    end(): string {
      const whole = text;
      text = "";
      // A character that XML cannot have is written as its number.
      if (!whole.includes("_")) return whole;
      return whole.replace(/_x([0-9A-F]{4})_/gi, (_, hex) =>
        String.fromCharCode(Number(`0x${hex}`)),
      );
    },
  };
}

/** Finds the text with this number, to which cells refer. */
export type FindText = (index: number) => string | undefined;

/** Keeps the shared texts of a workbook in one block of memory: as strings, they need much more. */
export async function readTexts(tags: Tags) {
  // What is not written takes no memory.
  const bytes = Buffer.allocUnsafeSlow(textsBytesMax);
  const ends = new Uint32Array(textsMax + 1);
  let count = 0;
  const reader = createTextReader();
  function add(text: string): void {
    // Half of a pair could not be written.
    if (!text.isWellFormed())
      throw new BrokenText(1, "the workbook has a text with a lone surrogate");
    const end = ends[count]! + Buffer.byteLength(text);
    if (count === textsMax) throw tooLarge(`${textsMax} texts`);
    if (end > textsBytesMax) throw tooLarge(`${textsBytesMax / 1_048_576} MiB of texts`);
    bytes.write(text, ends[count]!);
    count += 1;
    ends[count] = end;
  }
  for await (const some of tags) {
    for (const tag of some) {
      reader.take(tag);
      if (tag.name === "si" && tag.isEnd) add(reader.end());
    }
  }
  const findText: FindText = (index) => {
    const isKnown = Number.isInteger(index) && index >= 0 && index < count;
    return isKnown ? bytes.toString("utf8", ends[index]!, ends[index + 1]!) : undefined;
  };
  return { findText, blocks: [bytes, ends] };
}

function tooLarge(bound: string): BrokenText {
  return new BrokenText(1, `the workbook has more than ${bound}`);
}
