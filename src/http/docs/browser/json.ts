/** Formats JSON for display. The text is indented and highlighted but not parsed, so no digit is lost. */

const tokenPattern =
  /("(?:[^"\\]|\\.)*")(\s*:)?|(-?\d[\d.eE+-]*|true|false|null)|([[\]{},])|\s+|[^\s]/g;

export type TokenKind = "key" | "string" | "literal" | "plain";

export interface Token {
  readonly kind: TokenKind;
  readonly text: string;
}

export function formatJson(text: string): Token[] {
  const tokens: Token[] = [];
  let depth = 0;
  const newLine = () => `\n${"  ".repeat(depth)}`;
  for (const [piece, string, colon, literal, mark] of text.matchAll(tokenPattern)) {
    if (string !== undefined) {
      tokens.push({ kind: colon ? "key" : "string", text: string });
      if (colon) tokens.push({ kind: "plain", text: ": " });
    } else if (literal !== undefined) tokens.push({ kind: "literal", text: literal });
    else if (mark === undefined) {
      if (piece.trim() !== "") tokens.push({ kind: "plain", text: piece });
    } else if (mark === ",") tokens.push({ kind: "plain", text: `,${newLine()}` });
    else if (mark === "[" || mark === "{") {
      depth += 1;
      tokens.push({ kind: "plain", text: mark + newLine() });
    } else {
      depth = Math.max(0, depth - 1);
      close(tokens, mark, newLine());
    }
  }
  return tokens;
}

/** Closes a bracket. Empty brackets stay on one line. */
function close(tokens: Token[], mark: string, newLine: string): void {
  const last = tokens.at(-1);
  const opened = last?.kind === "plain" ? /^[[{]/.exec(last.text)?.[0] : undefined;
  if (opened) tokens[tokens.length - 1] = { kind: "plain", text: opened + mark };
  else tokens.push({ kind: "plain", text: newLine + mark });
}
