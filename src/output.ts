import { coloured } from "./terminal.ts";

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

/**
 * Hides database addresses. No message contains the setting, but a driver's error may quote it, and
 * an operator may type an address in place of another argument.
 */
export function withoutAddresses(text: string): string {
  return text.replace(addressWithPassword, "$1[hidden]");
}

/** Prints one line for people, or one JSON value. */
export function print(line: string): void {
  process.stdout.write(`${printable(line)}\n`);
}

/** Prints an error as one line on standard error. */
export function printError(message: string): void {
  const name = coloured(process.stderr, "red", "petstore:");
  process.stderr.write(`${name} ${printable(withoutAddresses(message))}\n`);
}

/** Prints one line of a longer message on standard error. */
export function printDetail(line: string): void {
  process.stderr.write(`${printable(withoutAddresses(line))}\n`);
}

/** Prints a warning as one line on standard error. The command continues. */
export function printWarning(message: string): void {
  printError(`warning: ${message}`);
}

/** Standard output is a pipe whose reader, such as `head`, has stopped reading. */
export class ReaderGone extends Error {}
