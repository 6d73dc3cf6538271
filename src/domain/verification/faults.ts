/** How many faults are described; the rest are only counted. */
const linesMax = 20;
const valueCharactersMax = 60;

/** What a verification has found wrong so far. */
export interface Faults {
  /** One line for each of the first faults: where it is, what is there, what was expected. */
  readonly lines: readonly string[];
  readonly count: number;
  note(where: string, found: string, expected: string): void;
}

export function createFaults(): Faults {
  const lines: string[] = [];
  let count = 0;
  return {
    lines,
    get count() {
      return count;
    },
    note(where, found, expected) {
      count += 1;
      if (lines.length < linesMax) lines.push(`${where}: ${found}; expected ${expected}`);
    },
  };
}

/** A stored value as a fault shows it: texts quoted, and cut where they are long. */
export function shown(value: unknown): string {
  if (typeof value !== "string") return String(value);
  const text = value.length > valueCharactersMax ? `${value.slice(0, valueCharactersMax)}…` : value;
  return JSON.stringify(text);
}
