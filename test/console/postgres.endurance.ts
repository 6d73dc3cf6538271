import { expect, test } from "bun:test";

test("every view works on PostgreSQL", async () => {
  const run = Bun.spawn([process.execPath, "test", "--timeout", "300000", import.meta.dir], {
    env: { ...process.env, TEST_ENGINE: "postgres" },
    stdout: "inherit",
    stderr: "inherit",
  });
  expect(await run.exited).toBe(0);
}, 1_800_000);
