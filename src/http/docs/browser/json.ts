/** Formats JSON for display. A number keeps all its digits, and a text that is cut can be highlighted. */

export type TokenKind = "key" | "string" | "literal" | "plain";

export interface Token {
  readonly kind: TokenKind;
  readonly text: string;
}

/** Other texts, and in browsers that round long numbers all texts, stay as they are. */
export function indentJson(text: string): string {
  try {
    const exact = JSON.parse(text, (_key, value, { source }) =>
      typeof value === "number" ? JSON.rawJSON(source ?? "") : value,
    );
    return JSON.stringify(exact, null, 2);
  } catch {
    return text;
  }
}

const tokenPattern = /("(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*|true|false|null)/;

export function highlightJson(text: string): Token[] {
  const pieces = text.split(tokenPattern);
  return pieces.map((piece, at) => {
    if (at % 2 === 0) return { kind: "plain", text: piece };
    if (!piece.startsWith('"')) return { kind: "literal", text: piece };
    return { kind: pieces[at + 1]!.startsWith(":") ? "key" : "string", text: piece };
  });
}
