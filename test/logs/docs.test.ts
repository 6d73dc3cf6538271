import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { unavailableMessages } from "../../src/domain/running/errors.ts";
import { events } from "../../src/domain/running/events.ts";

const page = readFileSync(new URL("../../docs/logs.md", import.meta.url), "utf8");

test("every event in the examples of docs/logs.md exists", () => {
  const examples = page.matchAll(/^\S+ (?:ERROR|WARN {1,2}|INFO {1,2}) (.*?)(?: \w+=.*)?$/gm);
  const names = [...examples].map(([, event]) => event!.trim());
  expect(names.length).toBeGreaterThan(10);
  expect(names.filter((name) => !(name in events))).toEqual([]);
});

test("every reason that requests fail for is explained in docs/logs.md", () => {
  const [, table = ""] = /^## Reasons$(.*?)^## /ms.exec(page) ?? [];
  const explained = [...table.matchAll(/^\| (`.*?) \|/gm)].flatMap(([, names]) =>
    [...names!.matchAll(/`(\w+)`/g)].map(([, name]) => name!),
  );
  // A stop is not logged as failing requests.
  const reasons = Object.keys(unavailableMessages).filter((reason) => reason !== "stopping");
  expect(explained.toSorted()).toEqual([...reasons, "bug", "other"].toSorted());
});
