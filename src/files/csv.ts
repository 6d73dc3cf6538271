/**
 * Quotes a cell if it needs quotes. The text itself is never changed, also if it starts with `=`, `+`,
 * `-` or `@`: a mark that keeps a spreadsheet program from running it as a formula would become part
 * of the name when the file is imported again.
 */
export function csvCell(text: string): string {
  return /[",\r\n]|^\s|\s$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
