import { ServiceError } from "../running/errors.ts";
import { JsonNumber } from "../values/json.ts";

/** A rule that a row of an import breaks. */
export interface Problem {
  readonly line: number;
  /** Undefined if the problem is the whole row, or the file. */
  readonly column?: string | undefined;
  /** The value as it was given, shortened. Undefined if none was given. */
  readonly value?: string | undefined;
  readonly rule: string;
  /** The text after this row cannot be split into rows, so it was not checked. */
  readonly isLast?: boolean;
  /** The format that the file seems to have, if it is not the one that was given. */
  readonly format?: string | undefined;
}

/** The problems of one import: the first ones, and how many there are. */
export interface Problems {
  /** At most `problemsMax`. */
  count(): number;
  add(problem: Problem): void;
  /** Counts problems of which only the first are known. */
  addUnlisted(count: number): void;
  /** The first ones, in the order of the file. */
  list(): readonly Problem[];
}

/** Bounds memory and output for a file with a mistake in every row. */
export const problemsListedMax = 50;

/** A file is read no further than this. */
export const problemsMax = 10_000;

export function createProblems(): Problems {
  let kept: Problem[] = [];
  let count = 0;
  const sort = () => {
    kept = kept.sort((one, other) => one.line - other.line).slice(0, problemsListedMax);
  };
  return {
    count: () => Math.min(count, problemsMax),
    add(problem) {
      count += 1;
      const { column, value } = problem;
      kept.push({
        ...problem,
        column: column && detached(column),
        value: value && detached(value),
      });
      if (kept.length >= 2 * problemsListedMax) sort();
    },
    addUnlisted(more) {
      count += more;
    },
    list() {
      sort();
      return kept;
    },
  };
}

/** An import that was rejected because of its rows. Its message is that of the first problem. */
export class RejectedImport extends ServiceError {
  readonly problems: Problems;

  constructor(problems: Problems) {
    const [first] = problems.list();
    super("invalid_request", `line ${first?.line}: ${first && problemText(first)}`);
    this.problems = problems;
  }
}

/** Throws if there is a problem. */
export function rejectProblems(problems: Problems): void {
  if (problems.count() > 0) throw new RejectedImport(problems);
}

/** The column, the value and the rule. */
export function problemText({ column, value, rule }: Problem): string {
  const subject = [column, value === undefined ? undefined : `'${value}'`];
  return [...subject, rule].filter((part) => part !== undefined).join(" ");
}

/** The same text. A part of a text keeps the whole text in memory, which can be a large piece of a file. */
function detached(text: string): string {
  return Buffer.from(text).toString();
}

const valueCharactersMax = 60;

/** A value for a message, shortened. */
export function shownValue(value: unknown): string {
  const text = typeof value === "string" ? value : jsonOf(value);
  if (text.length <= valueCharactersMax) return text;
  return `${text.slice(0, valueCharactersMax - 1).toWellFormed()}…`;
}

function jsonOf(value: unknown): string {
  return value instanceof JsonNumber ? value.source : JSON.stringify(value);
}
