import { expect, test } from "bun:test";
import { operatingPage, operatingSteps, walkOperatingPage } from "./support/operating.ts";

test("docs/operating.md has commands from the installation to the recovery", () => {
  expect(operatingSteps.length).toBeGreaterThan(12);
  const all = operatingSteps.map(({ commands }) => commands).join("");
  const walked = ["build:binary", "config", "serve", "keys create", "pets import", "doctor"];
  const more = ["backup", "drill", "verify", "upgrade --check", "restore", "health", "undo"];
  for (const word of [...walked, ...more]) expect(all).toContain(word);
  // Blocks in another language would not be run.
  expect(
    [...operatingPage.matchAll(/```(\w*)\n/g)].map(([, language]) => language || undefined),
  ).not.toContain("console");
});

// test/packages/executable.test.ts has the build, and operating.endurance.ts has both together.
test("every command in docs/operating.md works in this order, and prints what the page shows", async () => {
  await walkOperatingPage({ isBuilt: false });
});
