import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { events } from "../../src/domain/events.ts";

const page = readFileSync(new URL("../../docs/logs.md", import.meta.url), "utf8");

test("every event in the examples of docs/logs.md exists", () => {
  const examples = page.matchAll(/^\S+ (?:ERROR|WARN {1,2}|INFO {1,2}) (.*?)(?: \w+=.*)?$/gm);
  const names = [...examples].map(([, event]) => event!.trim());
  expect(names.length).toBeGreaterThan(10);
  expect(names.filter((name) => !(name in events))).toEqual([]);
});
