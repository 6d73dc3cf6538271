import { BrokenText } from "./lines.ts";
import { freeMemory } from "./memory.ts";
import { createRowReader, type SheetRow, type Style } from "./sheet-rows.ts";
import type { Bytes } from "./text.ts";
import { readTexts } from "./workbook-texts.ts";
import { attribute, type Tag, type Tags, tagsOf } from "./xml.ts";
import { readArchive, readPart } from "./zip.ts";

/** How much a part of a workbook can have: a small archive can have parts of any size. */
interface Bounds {
  readonly bytesMax: number;
  readonly elementsMax: number;
}

const mebibyte = 1_048_576;
/** A list of 100,000 pets with all fields, descriptions and ten other columns passes. */
const sheetBounds: Bounds = { bytesMax: 128 * mebibyte, elementsMax: 6_000_000 };
const textBounds: Bounds = { bytesMax: 64 * mebibyte, elementsMax: 6_000_000 };
/** All are kept in memory. */
const relationBounds: Bounds = { bytesMax: mebibyte, elementsMax: 10_000 };
/** More sheets and styles than a workbook has. */
const otherBounds: Bounds = { bytesMax: 16 * mebibyte, elementsMax: 500_000 };

const idOf = attribute("Id");
const typeOf = attribute("Type");
const targetOf = attribute("Target");
const stateOf = attribute("state");
const relationOf = attribute("id");
const formatIdOf = attribute("numFmtId");
const formatCodeOf = attribute("formatCode");

/** Reads the first visible sheet of a workbook. Yields its rows that have a value, in batches. */
export async function* readSheet(bytes: Bytes): AsyncGenerator<readonly SheetRow[]> {
  const archive = await readArchive(bytes);
  /** None, if the workbook does not have this part. */
  async function* tagsIn(path: string | undefined, bounds = otherBounds): Tags {
    const { bytesMax, elementsMax } = bounds;
    if (path !== undefined) yield* tagsOf(readPart(archive, path, bytesMax), elementsMax, path);
  }
  const paths = await readPaths(tagsIn("xl/_rels/workbook.xml.rels", relationBounds));
  const sheet = await findSheet(tagsIn("xl/workbook.xml"));
  const { findText, blocks } = await readTexts(tagsIn(paths.get("sharedStrings"), textBounds));
  const styles = await readStyles(tagsIn(paths.get("styles")));
  const reader = createRowReader({ findText, styles });
  for await (const tags of tagsIn(paths.get(sheet ?? "") ?? "sheet", sheetBounds)) {
    for (const tag of tags) {
      if (!reader.take(tag)) continue;
      yield reader.rows();
      freeMemory();
    }
    yield reader.rows();
  }
  freeMemory(...blocks, archive);
  if (reader.isInRow()) throw new BrokenText(1, "the workbook ends inside of an element");
}

/** The paths of parts by id and, for those of which there is one, by type. */
async function readPaths(tags: Tags): Promise<ReadonlyMap<string, string>> {
  const paths = new Map<string, string>();
  await eachStart(tags, (tag) => {
    if (tag.name !== "Relationship") return;
    const target = targetOf(tag) ?? "";
    const path = target.startsWith("/") ? target.slice(1) : `xl/${target}`;
    for (const name of [typeOf(tag)?.split("/").at(-1), idOf(tag)]) paths.set(name ?? "", path);
  });
  return paths;
}

/** The relation of the first visible sheet. */
async function findSheet(tags: Tags): Promise<string | undefined> {
  let found: string | undefined;
  await eachStart(tags, (tag) => {
    const isVisible = tag.name === "sheet" && (stateOf(tag) ?? "visible") === "visible";
    if (isVisible) found ??= relationOf(tag);
  });
  return found;
}

/** All are kept in memory. */
const formatsMax = 10_000;
const tooManyFormats = `the workbook has more than ${formatsMax} number formats`;
const dates = [14, 15, 16, 17, 18, 19, 20, 21, 22, 45, 46, 47];

/** The styles to which cells refer by their place. */
async function readStyles(tags: Tags): Promise<readonly Style[]> {
  const formats = new Map(dates.map((id) => [String(id), "date" as Style]));
  const styles: Style[] = [];
  let isOfCells = false;
  await eachStart(tags, (tag) => {
    if (/^cell\w*Xfs$/.test(tag.name)) isOfCells = tag.name === "cellXfs";
    // Formats come before the styles that use them.
    else if (tag.name === "xf" && isOfCells) styles.push(formats.get(formatIdOf(tag) ?? "") ?? 0);
    else if (tag.name === "numFmt") formats.set(formatIdOf(tag) ?? "", styleOf(formatCodeOf(tag)));
    if (formats.size > formatsMax) throw new BrokenText(1, tooManyFormats);
  });
  return styles;
}

async function eachStart(tags: Tags, take: (tag: Tag) => void): Promise<void> {
  for await (const some of tags) for (const tag of some) if (tag.isStart) take(tag);
}

function styleOf(format = ""): Style {
  // Texts in quotes, and colours and conditions in brackets, are not letters of a date. `[h]` is.
  const letters = format.replace(/"[^"]*(?:"|$)|\[(?![hms]+\])[^\]]*(?:\]|$)|\\./g, "");
  if (/[dmyhs]/i.test(letters)) return "date";
  // Barcodes are often numbers with this format. Their first digits can be zeros.
  return /^0{8,14}$/.test(format) ? format.length : 0;
}
