import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { withEvents } from "../../scripts/log-events.ts";
import { events } from "../../src/domain/events.ts";

const page = readFileSync(new URL("../../docs/logs.md", import.meta.url), "utf8");

test("docs/logs.md lists every event with its level, as the code has it", () => {
  expect(withEvents(page)).toBe(page);
  for (const [event, { level }] of Object.entries(events)) {
    expect(page).toContain(`| \`${event}\` | ${level} |`);
  }
  const changed = page.replace("| `started` | info |", "| `started` | warn |");
  expect(changed).not.toBe(page);
  expect(withEvents(changed)).toBe(page);
});

test("every event in the examples of docs/logs.md exists", () => {
  const examples = page.matchAll(/^\S+ (?:ERROR|WARN {1,2}|INFO {1,2}) (.*?)(?: \w+=.*)?$/gm);
  const names = [...examples].map(([, event]) => event!.trim());
  expect(names.length).toBeGreaterThan(10);
  expect(names.filter((name) => !(name in events))).toEqual([]);
});
