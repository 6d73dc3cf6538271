import { readFileSync } from "node:fs";

/** What one call of `bun test --reporter=junit` has run. */
export interface Report {
  readonly files: readonly { readonly name: string; readonly seconds: number }[];
  readonly passed: number;
  readonly failed: number;
  /** The files and titles of the skipped tests. */
  readonly skipped: readonly string[];
}

/** Reads a report of Bun. It has nothing if the run ended before it wrote one. */
export function readReport(path: string): Report {
  const files: { name: string; seconds: number }[] = [];
  const skipped: string[] = [];
  let passed = 0;
  let failed = 0;
  for (const [, kind, attributes, isEmpty, child] of textOf(path).matchAll(element)) {
    const { name, file, time, classname } = fieldsOf(attributes!);
    // A file is a suite, and so is each of its describe blocks.
    if (kind === "testsuite" && name === file) files.push({ name: name!, seconds: Number(time) });
    if (kind === "testsuite") continue;
    if (child === "skipped") skipped.push([file, classname, name].filter(Boolean).join(" > "));
    else if (isEmpty) passed += 1;
    else failed += 1;
  }
  return { files, passed, failed, skipped: skipped.filter((title) => !title.endsWith(hook)) };
}

/** A suite or a test: its attributes, whether it is empty, and the name of its first child. */
const element = /<(testsuite|testcase)( [^>]*?)(\/?)>(?=\s*(?:<(\w+))?)/g;

/** The name of what begins and ends a block. */
const hook = "(unnamed)";

function fieldsOf(attributes: string): Record<string, string> {
  const pairs = attributes.matchAll(/ (\w+)="([^"]*)"/g);
  return Object.fromEntries([...pairs].map(([, name, text]) => [name, plainText(text!)]));
}

function textOf(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}

const characters: Record<string, string> = { lt: "<", gt: ">", quot: '"', apos: "'", amp: "&" };

function plainText(text: string): string {
  return text.replace(/&(\w+);/g, (whole, name) => characters[name] ?? whole);
}
