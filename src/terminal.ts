const codes = { bold: 1, red: 31, green: 32, yellow: 33 } as const;

export type Colour = keyof typeof codes;

type Stream = Pick<NodeJS.WriteStream, "isTTY">;

/** Whether the stream is a terminal that understands control sequences. */
export function isCapable({ isTTY }: Stream, { TERM } = process.env): boolean {
  return Boolean(isTTY) && TERM !== "dumb";
}

/** Only a capable terminal gets colours, and only if NO_COLOR is unset or empty. */
export function hasColour(stream: Stream, variables = process.env): boolean {
  return isCapable(stream, variables) && !variables.NO_COLOR;
}

/** Colours a text that is written to this stream. */
export function coloured(stream: Stream, colour: Colour, text: string): string {
  return hasColour(stream) ? `\x1b[${codes[colour]}m${text}\x1b[0m` : text;
}
