import type { Fault } from "../domain/verification/store.ts";
import { run, type Script } from "./statements.ts";

/**
 * Counts the rows that break a CHECK constraint of the schema. SQLite's own check leaves constraints out
 * on a connection that only reads, and PostgreSQL has none for a constraint that somebody dropped.
 */
export function* checkConstraints(schema: string): Script<readonly Fault[]> {
  const faults: Fault[] = [];
  for (const [name, body] of tablesIn(schema)) {
    const rules = rulesIn(body);
    if (rules.length === 0) continue;
    const counts = rules.map((rule) => `count(*) FILTER (WHERE NOT (${rule}))`);
    const [broken] = yield* run(`SELECT ${counts.join()} FROM ${name}`);
    for (const [at, rule] of rules.entries()) {
      const count = Number(broken![at]);
      if (count === 0) continue;
      const found = `rows that break a constraint: ${count}`;
      faults.push({ where: `table ${name}`, found, expected: rule.replaceAll(/\s+/g, " ") });
    }
  }
  return faults;
}

/** The tables of a schema: their names, and their definitions without comments. */
export function tablesIn(schema: string): readonly (readonly [name: string, body: string])[] {
  return [...schema.replaceAll(/--.*/g, "").matchAll(/CREATE TABLE (\w+) \(([\s\S]*?);\n/g)].map(
    ([, name, body]) => [name!, body!],
  );
}

/** The text in the parentheses after each CHECK. */
function rulesIn(body: string): readonly string[] {
  return body.split("CHECK (").slice(1).map(untilClosed);
}

function untilClosed(text: string): string {
  let depth = 1;
  for (let at = 0; at < text.length; at++) {
    if (text[at] === "(") depth += 1;
    else if (text[at] === ")") depth -= 1;
    if (depth === 0) return text.slice(0, at).trim();
  }
  return text;
}
