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

/**
 * A database address with a password, or with a word that may be one. A password may contain spaces
 * and `@`, so the pattern extends to the last `@` of the line.
 */
const addressWithPassword =
  /\b(postgres(?:ql)?:\/\/)(?:[^\n]*:[^\n]*@|[^\s/:]*:(?![0-9]+(?:[\s/?,']|$)))[^\s'"]*/gi;

/** The user name and the password of a URL. */
const userInfo = /\b([a-z][a-z0-9+.-]*:\/\/)[^\s/?#'"]*:[^\s/?#'"]*@/gi;

/**
 * Hides database addresses, and passwords in other ones. No message contains the setting, but a
 * driver's error may quote it, and an operator may type an address in place of another argument.
 */
export function withoutAddresses(text: string): string {
  return text.replace(addressWithPassword, "$1[hidden]").replace(userInfo, "$1[hidden]@");
}

/** API keys, keys of operators and secrets of webhooks. The prefix stays, which helps to find the key. */
const tokens = /(psk_(?:live_|test_)?|pso_(?:live_|test_)?|whsec_)[0-9A-Za-z+/=_-]+/g;

/** The credentials of a header, with or without its name. */
const credentials = /\b((?:bearer|basic)[ \t]+)[^\s,;"']+/gi;
const authorization = /\b((?:proxy-)?authorization["']?[ \t]*[:=][ \t]*["']?)[^\r\n"']+/gi;

/** Cookies, and the token of a session as it is in one. */
const cookies = /\b((?:set-)?cookie["']?[ \t]*[:=][ \t]*["']?)[^\r\n"']+/gi;
const sessions = /(petstore_(?:production|staging)=)[^\s,;"']+/g;

/** A password as a parameter: in an address, in a connection string of libpq, or in JSON. */
const passwordName = /\b((?:pg|ssl)?(?:password|passwd|pwd)["']?[ \t]*[:=][ \t]*)/.source;
const quotedPasswords = new RegExp(`${passwordName}(?:"[^"]*"?|'[^']*'?)`, "gi");
const passwords = new RegExp(`${passwordName}[^\\s&,;"']+`, "gi");

/** Hides everything that has the form of a secret. */
export function withoutSecrets(text: string): string {
  return withoutAddresses(text)
    .replace(quotedPasswords, "$1[hidden]")
    .replace(authorization, "$1[hidden]")
    .replace(credentials, "$1[hidden]")
    .replace(passwords, "$1[hidden]")
    .replace(cookies, "$1[hidden]")
    .replace(sessions, "$1[hidden]")
    .replace(tokens, "$1[hidden]");
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
  process.stdout.write(`${printable(line)}\n`);
}

/** Prints an error as one line on standard error. */
export function printError(message: string): void {
  writeError(coloured(process.stderr, "red", "petstore:"), message);
}

/** Prints one line of a longer message on standard error. */
export function printDetail(line: string): void {
  process.stderr.write(`${printable(withoutAddresses(line))}\n`);
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
