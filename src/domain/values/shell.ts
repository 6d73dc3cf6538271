/** Writes a text as one word of a command line, which the shell would split at spaces or run parts of. */
export function quoted(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
