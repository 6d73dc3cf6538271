import { test } from "bun:test";
import { walkOperatingPage } from "./support/operating.ts";

test("every command in docs/operating.md works with an executable that was just built", async () => {
  await walkOperatingPage({ isBuilt: true });
}, 120_000);
