/** JSON as text, for show: indented and coloured without being parsed, so that no digit is lost. */

const pieces = /("(?:[^"\\]|\\.)*")(\s*:)?|(-?\d[\d.eE+-]*|true|false|null)|([[\]{},])|\s+|[^\s]/g;

export type TokenKind = "key" | "text" | "value" | "plain";

export interface Token {
  readonly kind: TokenKind;
  readonly text: string;
}

export function jsonTokens(text: string): Token[] {
  const tokens: Token[] = [];
  let depth = 0;
  const line = () => `\n${"  ".repeat(depth)}`;
  for (const [piece, string, colon, value, mark] of text.matchAll(pieces)) {
    if (string !== undefined) {
      tokens.push({ kind: colon ? "key" : "text", text: string });
      if (colon) tokens.push({ kind: "plain", text: ": " });
    } else if (value !== undefined) tokens.push({ kind: "value", text: value });
    else if (mark === undefined) {
      if (piece.trim() !== "") tokens.push({ kind: "plain", text: piece });
    } else if (mark === ",") tokens.push({ kind: "plain", text: `,${line()}` });
    else if (mark === "[" || mark === "{") {
      depth += 1;
      tokens.push({ kind: "plain", text: mark + line() });
    } else {
      depth = Math.max(0, depth - 1);
      close(tokens, mark, line());
    }
  }
  return tokens;
}

/** Nothing between the brackets stays on one line. */
function close(tokens: Token[], mark: string, line: string): void {
  const last = tokens.at(-1);
  const opened = last?.kind === "plain" ? /^[[{]/.exec(last.text)?.[0] : undefined;
  if (opened) tokens[tokens.length - 1] = { kind: "plain", text: opened + mark };
  else tokens.push({ kind: "plain", text: line + mark });
}
