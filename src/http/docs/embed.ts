import { readFileSync } from "node:fs";

/**
 * Functions that Bun calls when it loads or bundles the file that imports them as macros. It replaces
 * each call by its result, so the files are inside a single executable. In a checkout, they are read
 * at the start: an upgrade may replace them while the service runs.
 */

/** The text of a file in this folder. */
export function embedText(name: string): string {
  return readFileSync(new URL(name, import.meta.url), "utf8");
}

/** A TypeScript file in this folder as JavaScript for browsers. */
export function embedScript(name: string): string {
  const transpiler = new Bun.Transpiler({ loader: "ts", target: "browser" });
  return transpiler.transformSync(embedText(name));
}
