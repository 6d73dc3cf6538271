/** Finds the name that a person probably meant by a word that is not a name. */

/** Words that are shorter than this resemble too many names. */
const wordCharactersMin = 3;
/** One mistake is likely in every so many characters. */
const charactersPerMistake = 3;
const mistakesMax = 3;

/**
 * Returns the name that differs from the word by the fewest mistakes, or the only name that starts
 * with the word. Upper and lower case count as equal. Undefined if no name is near.
 */
export function findNearest(word: string, names: Iterable<string>): string | undefined {
  if (word.length < wordCharactersMin) return undefined;
  const typed = word.toLowerCase();
  const known = [...names].map((name) => ({ name, text: name.toLowerCase() }));
  let allowed = Math.min(mistakesMax, Math.floor(word.length / charactersPerMistake));
  let nearest: string | undefined;
  for (const { name, text } of known) {
    // Not the whole distance for a word of any length: only a small one counts.
    if (Math.abs(text.length - typed.length) > allowed) continue;
    const mistakes = countMistakes(typed, text);
    if (mistakes > allowed || (nearest !== undefined && mistakes === allowed)) continue;
    nearest = name;
    allowed = mistakes;
  }
  if (nearest !== undefined) return nearest;
  const longer = known.filter(({ text }) => text.startsWith(typed));
  return longer.length === 1 ? longer[0]!.name : undefined;
}

/**
 * The distance of Damerau and Levenshtein: how many characters must be added, removed, replaced, or
 * swapped with their neighbour, to get from one text to the other.
 */
export function countMistakes(one: string, other: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: other.length + 1 }, (_, at) => at);
  for (let row = 1; row <= one.length; row++) {
    const current = [row];
    for (let column = 1; column <= other.length; column++) {
      const isEqual = one[row - 1] === other[column - 1];
      let mistakes = Math.min(
        last[column]! + 1,
        current[column - 1]! + 1,
        last[column - 1]! + (isEqual ? 0 : 1),
      );
      const isSwapped =
        row > 1 &&
        column > 1 &&
        one[row - 1] === other[column - 2] &&
        one[row - 2] === other[column - 1];
      if (isSwapped) mistakes = Math.min(mistakes, beforeLast[column - 2]! + 1);
      current.push(mistakes);
    }
    beforeLast = last;
    last = current;
  }
  return last[other.length]!;
}
