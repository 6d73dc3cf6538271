import fc from "fast-check";

/** A part of a generated request: valid, or invalid on purpose. */
export interface Part<T> {
  readonly value: T;
  /** The error statuses that the part causes. */
  readonly faults: readonly number[];
  /** Statuses that the part may cause, depending on what is stored. */
  readonly possible?: readonly number[];
}

export const valid = <T>(value: T): Part<T> => ({ value, faults: [] });
export const invalid =
  (status: number) =>
  <T>(value: T): Part<T> => ({ value, faults: [status] });
export const possibly =
  (...possible: readonly number[]) =>
  <T>(value: T): Part<T> => ({ value, faults: [], possible });

/** Two thirds valid, so that one fault does not hide another. */
export function mostlyValid<T>(good: fc.Arbitrary<Part<T>>, bad: fc.Arbitrary<Part<T>>) {
  return fc.oneof({ arbitrary: good, weight: 2 }, { arbitrary: bad, weight: 1 });
}
