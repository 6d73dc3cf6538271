import { int64Max } from "../domain/values/int64.ts";
import { firstIdAfter, type Row, type Value } from "./rows.ts";

/**
 * A store method written once for both engines: a generator that yields SQL and receives rows, which
 * SQLite returns at once and PostgreSQL later.
 */
export type Script<T> = Generator<Statement, T, readonly Row[]>;

export interface Statement {
  /** `$1` is the first value. PostgreSQL reads its type, as in `$1::int8`; SQLite does not need it. */
  readonly text: string;
  readonly values: readonly Value[];
}

/** Methods of a port as scripts. */
export type ScriptsOf<Port, M extends keyof Port> = {
  readonly [N in M]: Port[N] extends (...args: infer A) => infer R
    ? (...args: A) => Script<Awaited<R>>
    : never;
};

/** Scripts as methods that return the result of each. */
export type Blocking<S> = {
  readonly [M in keyof S]: S[M] extends (...args: infer A) => Script<infer T>
    ? (...args: A) => T
    : never;
};

/** The same methods, each of which returns a promise. */
export type Promised<T> = {
  readonly [M in keyof T]: T[M] extends (...args: infer A) => infer R
    ? (...args: A) => Promise<R>
    : never;
};

export type Promising<S> = Promised<Blocking<S>>;

/** What the engines write each in its own way. */
export interface Dialect {
  /**
   * Takes the lock of all transactions that add or remove pets, or change a value that only one pet may
   * have. It ends with the transaction.
   */
  readonly lockCatalogue: string;
  /** Takes the lock of all transactions that change stock. It ends with the transaction. */
  readonly lockLedger: string;
  /** Increments the version by which services detect changes to keys, sessions and bans. */
  readonly touchKeys: string;
  /** Adds an entry to the audit log. Its values are those of `auditColumns`. */
  readonly addEntry: string;
}

export function* run(text: string, values: readonly Value[] = []): Script<readonly Row[]> {
  return yield { text, values };
}

/** Runs a statement that returns what it changed. If it has changed anything, `then` records that. */
export function* ifChanged(change: Script<readonly Row[]>, then: Script<void>): Script<boolean> {
  const isChanged = (yield* change).length > 0;
  if (isChanged) yield* then;
  return isChanged;
}

/** Reads rows and converts each of them. */
export function* readAll<T>(
  toResult: (row: Row) => T,
  text: string,
  values?: readonly Value[],
): Script<T[]> {
  return (yield* run(text, values)).map((row) => toResult(row));
}

export function* readFirst<T>(
  toResult: (row: Row) => T,
  text: string,
  values?: readonly Value[],
): Script<T | undefined> {
  return (yield* readAll(toResult, text, values))[0];
}

/** Reads a page that starts after an id, or at the smallest one: `$1`. */
export function* readPage<T>(
  toResult: (row: Row) => T,
  text: string,
  after: bigint | null,
  values: readonly Value[],
): Script<T[]> {
  if (after === int64Max) return [];
  return yield* readAll(toResult, text, [firstIdAfter(after), ...values]);
}
