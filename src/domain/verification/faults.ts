/** How many faults are described. Further ones are only counted. */
const linesMax = 20;
const valueCharactersMax = 60;

/** The faults that a verification has found so far. */
export interface Faults {
  /** One line for each of the first faults: where it is, what was found, what was expected. */
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

/** A stored value as a fault shows it. Texts are quoted, bytes are counted, and long texts are cut. */
export function shown(value: unknown): string {
  if (value instanceof Uint8Array) return `${value.length} bytes`;
  if (typeof value !== "string") return String(value);
  const text = value.length > valueCharactersMax ? `${value.slice(0, valueCharactersMax)}…` : value;
  return JSON.stringify(text);
}
