/** 8 digits or more are always an id or a barcode. */
export const amountRule = "Enter a whole number from 0 to 9,999,999.";

/** `3,0` is 3. `1.000` is rejected: one in some countries, a thousand in others. */
const amount = "(0|[1-9]\\d{0,6})(?:[.,]0{1,2})?";
const wholeAmount = new RegExp(`^(?:${amount})?$`);
const twoColumns = new RegExp(`^\\s*"?(.+?)"?\\s*[\\t;,]\\s*"?${amount}"?\\s*$`);

/** Reads how many pieces there are. An empty text means none. Undefined if it is no amount. */
export function parseAmount(text: string): number | undefined {
  const match = wholeAmount.exec(text.trim());
  return match ? Number(match[1] ?? 0) : undefined;
}

/** Reads a line of a sheet: what names a pet, and how many. Undefined if that is not what it says. */
export function parseLine(line: string): { code: string; pieces: number } | undefined {
  const match = twoColumns.exec(line);
  return match ? { code: match[1]!, pieces: Number(match[2]) } : undefined;
}

/**
 * Whether a text after a scan is its amount, and not the next pet. What is scanned is the next one if a pet
 * has this code, or if it has five digits or more.
 */
export function isAmount(text: string, isScanned: boolean, isCode: boolean): boolean {
  const isNext = isScanned && (isCode || /\d{5}/.test(text));
  return text !== "" && parseAmount(text) !== undefined && !isNext;
}
