import { InvalidField } from "../running/errors.ts";

export const nameCharactersMax = 200;

/** Checks the name that an operator gives to a key or a webhook. Returns it without outer spaces. */
export function checkName(value: string): string {
  const name = value.trim();
  if (name === "" || name.length > nameCharactersMax) {
    const rule = `is required and must not have more than ${nameCharactersMax} characters`;
    throw new InvalidField("name", rule);
  }
  // Lists print one name per line, on an operator's terminal.
  if (/\p{Cc}/u.test(name)) throw new InvalidField("name", "must not contain control characters");
  // The store would keep U+FFFD in its place.
  if (!name.isWellFormed()) throw new InvalidField("name", "must not contain a lone surrogate");
  return name;
}

/** Checks a list of names. Returns them in the order of all names, each once. */
export function checkChoice<T extends string>(
  field: string,
  names: readonly string[],
  all: readonly T[],
): readonly T[] {
  const known: readonly string[] = all;
  if (names.length === 0 || !names.every((name) => known.includes(name))) {
    throw new InvalidField(field, `must list one or more of ${all.join(", ")}`);
  }
  return all.filter((one) => names.includes(one));
}

/** The length of a reason, which a client gives for a change. Counted in Unicode code points. */
export const reasonCharactersMax = 200;

export const reasonRule = `must have at most ${reasonCharactersMax} characters and no control characters`;

/** Returns true if the text keeps the rule. An unpaired surrogate is not a character. */
export function isReason(text: string): boolean {
  // A code point has at most two UTF-16 units, so longer texts need not be counted.
  if (text.length > 2 * reasonCharactersMax || /\p{Cc}/u.test(text)) return false;
  return text.isWellFormed() && [...text].length <= reasonCharactersMax;
}
