/** A function, method or arrow function in a source file. */
export interface FunctionText {
  readonly name: string;
  /** Lines of code: without comments and blank lines, so that explaining something costs nothing. */
  readonly codeLines: number;
}

/** The end of a line after which the body of a function follows. */
const opensBody = /(?:=>(?: [({[]+)?|\)(?:: .*)? \{)$/;
const isCode = (line: string) => !/^\s*(?:$|\/\/|\/?\*)/.test(line);
const isStatement = /^(?:\} )?(?:if|else|for|while|switch|catch|do|try)\b/;

const declared = /^(?:export )?(?:default )?(?:async )?(?:function\*? |const )?(\w+)/;

const indentOf = (line: string) => line.length - line.trimStart().length;

/**
 * Finds the functions of a file that has been formatted: a function ends at the first later line that is
 * not indented further than its own first line.
 */
export function* functionsIn(text: string): Generator<FunctionText> {
  const lines = text.split("\n");
  const isInside = (at: number, indent: number) =>
    lines[at] === "" || indentOf(lines[at]!) > indent;
  for (const [at, line] of lines.entries()) {
    if (!opensBody.test(line)) continue;
    const indent = indentOf(line);
    let start = at;
    // The parameters are on lines of their own.
    if (/^\s*[)}]/.test(line))
      do start -= 1;
      while (start > 0 && isInside(start, indent));
    const head = lines[start]!.trim();
    if (isStatement.test(head)) continue;
    let end = at + 1;
    while (end < lines.length - 1 && isInside(end, indent)) end += 1;
    const isClosing = /^\s*[)}\]]/.test(lines[end]!);
    const [, name = head] = declared.exec(head) ?? [];
    const own = lines.slice(start, isClosing ? end + 1 : end);
    yield { name, codeLines: own.filter(isCode).length };
  }
}
