import { readFileSync } from "node:fs";

/** What one call of `bun test --reporter=junit` has run. */
export interface Report {
  readonly files: readonly { readonly name: string; readonly seconds: number }[];
  readonly passed: number;
  readonly failed: number;
  /** The titles of the skipped tests. */
  readonly skipped: readonly string[];
}

/** Reads a report of Bun. It has nothing if the run ended before it wrote one. */
export function readReport(path: string): Report {
  const files: { name: string; seconds: number }[] = [];
  const skipped: string[] = [];
  let passed = 0;
  let failed = 0;
  for (const [, kind, written, isEmpty, inside] of textOf(path).matchAll(element)) {
    const field = (name: string) => plainText(new RegExp(` ${name}="([^"]*)"`).exec(written!)![1]!);
    if (kind === "testsuite") {
      // A file is a suite, and so is each of its describe blocks.
      if (field("name") === field("file")) {
        files.push({ name: field("name"), seconds: Number(field("time")) });
      }
    } else if (isEmpty) passed += 1;
    else if (inside === "skipped") skipped.push(`${field("file")}: ${field("name")}`);
    else failed += 1;
  }
  return { files, passed, failed, skipped };
}

/** Its attributes, whether it is empty, and the name of its first child. */
const element = /<(testsuite|testcase)( [^>]*?)(\/?)>(?=\s*(?:<(\w+))?)/g;

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
