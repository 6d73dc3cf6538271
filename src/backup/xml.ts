/** What is inside the root of a document. Undefined if it has another root, or if it is cut off. */
export function contentOf(root: string, xml: string): string | undefined {
  const whole = new RegExp(`^(?:<\\?xml[^>]*>\\s*)?<${root}(?:\\s[^>]*)?>(.*)</${root}>$`, "s");
  return whole.exec(xml.trim())?.[1];
}

/** The text of the first element with this name. */
export function textIn(xml: string, element: string): string | undefined {
  const text = new RegExp(`<${element}>([^<]*)</${element}>`).exec(xml)?.[1];
  return text?.replace(/&(#?)(\w+);/g, (escaped, isNumber: string, code: string) => {
    if (isNumber) return String.fromCharCode(Number(code.replace("x", "0x")));
    return named[code] ?? escaped;
  });
}

const named: Record<string, string> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" };
