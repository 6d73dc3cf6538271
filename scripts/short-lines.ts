/** Writes an object or list of JSON text on one line if it fits, as the formatter does. */
export function joinShortLines(text: string): string {
  const innermost = /^( *)(.*)([{[])\n((?:\1 {2}[^ ].*[^{[\n]\n)+)\1([}\]],?)$/gm;
  const joined = text.replace(innermost, (all, indent, start, open, content, close) => {
    const space = open === "{" ? " " : "";
    const line = [indent, start, open, space, content.trim().replace(/\n */g, " "), space, close];
    return line.join("").length <= 100 ? line.join("") : all;
  });
  return joined === text ? text : joinShortLines(joined);
}
