/** The formats of exported files with pets or orders. */
export const formats = ["csv", "ndjson", "json"] as const;
export type Format = (typeof formats)[number];

/** An import also reads the workbooks of spreadsheet programs. */
export const importFormats = [...formats, "xlsx"] as const;
export type ImportFormat = (typeof importFormats)[number];

/** What stands between two cells of a CSV file. */
export const delimiters = { comma: ",", semicolon: ";", tab: "\t" } as const;
export type Delimiter = keyof typeof delimiters;
export const delimiterNames = Object.keys(delimiters) as readonly Delimiter[];

/** The delimiter that has this name, or is this character. */
export function findDelimiter(text: string): Delimiter | undefined {
  return delimiterNames.find((name) => name === text || delimiters[name] === text);
}
