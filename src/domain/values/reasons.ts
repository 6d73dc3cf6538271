/** A reason is a short text that a client gives for a change. The ledger keeps it. */

/** Counted in Unicode code points. */
export const reasonCharactersMax = 200;

export const reasonRule = `must have at most ${reasonCharactersMax} characters and no control characters`;

/** Returns true if the text keeps the rule. An unpaired surrogate is not a character. */
export function isReason(text: string): boolean {
  // A code point has at most two UTF-16 units, so longer texts need not be counted.
  if (text.length > 2 * reasonCharactersMax || /\p{Cc}/u.test(text)) return false;
  return text.isWellFormed() && [...text].length <= reasonCharactersMax;
}
