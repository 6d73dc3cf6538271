import * as hiding from "./domain/values/hiding.ts";

/**
 * Escapes and prints everything that the process writes for people and logs. Names and values come
 * from files and clients, so they must not contain sequences that control a terminal.
 */

/**
 * Control characters (C0, DEL, C1), lone surrogates, bidirectional controls and line separators. Each
 * has a code of four hexadecimal digits.
 */
const unprintable = /[\p{Cc}\p{Cs}\p{Bidi_Control}\u2028\u2029]/gu;

/** Escapes the characters that a terminal would interpret. Escaped JSON has the same value. */
export function printable(text: string): string {
  return text.replace(unprintable, escaped);
}

/** Same as `printable`, but keeps line feeds. */
export function printableLines(text: string): string {
  return text.replace(unprintable, (one) => (one === "\n" ? one : escaped(one)));
}

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
}

/** Users and passwords in what was typed, as they may be printed. */
const typed = new Set<string>();

/**
 * Hides, from now on, what may be a user and a password in these arguments or settings, wherever they are
 * printed. They may have any characters, so no pattern finds their end in a message.
 */
export function hideTyped(values: readonly string[]): void {
  for (const value of values) {
    const user = hiding.findUser(value);
    if (!user) continue;
    // A message may name a file in full, with single slashes.
    for (const form of [user, user.replace(/\/+/g, "/")]) {
      for (const text of [form, JSON.stringify(form).slice(1, -1)]) typed.add(`${text}@`);
    }
  }
}

function withoutTyped(text: string): string {
  return [...typed].reduce((left, user) => left.replaceAll(user, "[hidden]@"), text);
}

/** Hides everything that has the form of a secret, and the passwords that were typed. */
export function withoutSecrets(text: string): string {
  return hiding.withoutSecrets(withoutTyped(text));
}

/** A shorter text may be a part of any word. */
const secretCharactersMin = 6;

/** Returns `withoutSecrets` which also hides these texts, whatever their form. */
export function createScrubber(secrets: readonly string[]): (text: string) => string {
  const known = secrets
    .filter(({ length }) => length >= secretCharactersMin)
    .toSorted((one, other) => other.length - one.length)
    .map((secret) => RegExp.escape(secret));
  if (known.length === 0) return withoutSecrets;
  const pattern = new RegExp(known.join("|"), "g");
  return (text) => withoutSecrets(text.replace(pattern, "[hidden]"));
}

let clearLine: (() => void) | undefined;

/** Sets what removes an unfinished line, such as progress, before anything is printed. */
export function beforePrinting(clear: () => void): void {
  clearLine = clear;
}

/** Prints one line for people, or one JSON value. */
export function print(line: string): void {
  clearLine?.();
  process.stdout.write(`${printable(withoutTyped(line))}\n`);
}

/** Prints an error as one line on standard error. */
export function printError(message: string): void {
  writeError(coloured(process.stderr, "red", "petstore:"), message);
}

/** Prints one line of a longer message on standard error. */
export function printDetail(line: string): void {
  process.stderr.write(`${printable(hiding.withoutAddresses(withoutTyped(line)))}\n`);
}

/** Prints a warning as one line on standard error. The command continues. */
export function printWarning(message: string): void {
  writeError(coloured(process.stderr, "yellow", "petstore:"), `warning: ${message}`);
}

/** Prints what a command has done besides its result, as one line on standard error. */
export function printNote(message: string): void {
  writeError("petstore:", message);
}

function writeError(name: string, message: string): void {
  clearLine?.();
  process.stderr.write(`${name} ${printable(withoutSecrets(message))}\n`);
}

/** Standard output is a pipe whose reader, such as `head`, has stopped reading. */
export class ReaderGone extends Error {}

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
