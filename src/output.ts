/**
 * What leaves the process for a person or a log passes through here. Names and values come from
 * files, from clients and from other people; none of them may steer a terminal.
 */

/**
 * Control characters (C0, DEL, C1), halves of surrogate pairs, characters that turn the direction
 * of writing, and line separators. All of them can be written with four hexadecimal digits.
 */
const unprintable = /[\p{Cc}\p{Cs}\p{Bidi_Control}\u2028\u2029]/gu;

/** A text in which nothing moves a cursor or hides a word. JSON stays the same JSON. */
export function printable(text: string): string {
  return text.replace(unprintable, escaped);
}

/** The same for text of several lines. */
export function printableLines(text: string): string {
  return text.replace(unprintable, (one) => (one === "\n" ? one : escaped(one)));
}

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
}

/**
 * A database address that has a password, or a word that may be one. Nobody can tell where a
 * password with spaces or `@` in it ends, so all up to the line's last `@` belongs to it.
 */
const addressWithPassword =
  /\b(postgres(?:ql)?:\/\/)(?:[^\n]*:[^\n]*@|[^\s/:]*:(?![0-9]+(?:[\s/?,']|$)))[^\s'"]*/gi;

/**
 * Hides database addresses. The setting itself is never printed; this is for a driver's message
 * that repeats it, and for an address that was typed where another word belongs.
 */
export function withoutAddresses(text: string): string {
  return text.replace(addressWithPassword, "$1[hidden]");
}

/** Prints one line for people, or one JSON value. */
export function print(line: string): void {
  process.stdout.write(`${printable(line)}\n`);
}

/** Says in one line what went wrong. */
export function printError(message: string): void {
  process.stderr.write(`petstore: ${printable(withoutAddresses(message))}\n`);
}
