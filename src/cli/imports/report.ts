import type { FoundColumn } from "../../domain/catalogue/import-preview.ts";
import {
  type Problem,
  type Problems,
  problemsMax,
  problemText,
} from "../../domain/catalogue/import-problems.ts";
import { print, printDetail, printError } from "../../output.ts";
import { counted } from "../paragraphs.ts";

/** Prints the problems of a rejected import: the first ones, and how many more there are. */
export function reportProblems(
  name: string,
  problems: Problems,
  asJson: boolean,
  columns: readonly FoundColumn[],
): number {
  const count = problems.count();
  const listed = problems.list();
  if (asJson) {
    const rows = listed.map(({ line, column = null, value = null, rule, format }) => ({
      ...{ file: name, line, column, value, rule, format },
    }));
    print(JSON.stringify({ problemCount: count, problems: rows, columns }));
  } else {
    for (const problem of listed) printDetail(`${name}:${problem.line}: ${problemLine(problem)}`);
    if (count > listed.length) printDetail(`${name}: ${count - listed.length} more problems`);
  }
  const last = listed.find(({ isLast }) => isLast);
  const upTo = last && last.line > 1 ? `, which was checked up to line ${last.line}` : "";
  const reach = count === problemsMax ? ", of which the rest was not checked" : upTo;
  printError(`${counted(count, "problem")} in ${name}${reach}; nothing was imported`);
  return 2;
}

/** A problem, and the flag that helps. */
export function problemLine(problem: Problem): string {
  const { format } = problem;
  const advice = format === undefined ? "" : `; use --format ${format}`;
  return problemText(problem) + advice;
}
