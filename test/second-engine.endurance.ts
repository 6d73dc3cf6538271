import { expect, test } from "bun:test";

/** The tests that use `surfaceEngine`. */
const tests = ["console", "admin/roles.test.ts", "assistants.test.ts", "hostile.test.ts"];

test("what lies above the store works on PostgreSQL", async () => {
  const paths = [...tests, "rejected-writes.test.ts"].map((path) => `${import.meta.dir}/${path}`);
  const run = Bun.spawn([process.execPath, "test", "--timeout", "300000", ...paths], {
    env: { ...process.env, TEST_ENGINE: "postgres" },
    stdout: "inherit",
    stderr: "inherit",
  });
  expect(await run.exited).toBe(0);
}, 1_800_000);
