import { expect, test } from "bun:test";
import { createdDatabase } from "../support/postgres-template.ts";
import { createKey } from "../support/stocking.ts";

test("three processes admit exactly the limit in every minute, by the database's count", async () => {
  const url = await createdDatabase();
  const { id: key } = await createKey(url, { name: "test", plan: "free" });
  const base = Math.floor(Date.now() / 60_000) * 60_000;
  const started = Date.now();
  const workers = [1, 2, 3].map(() =>
    Bun.spawn(
      [
        process.execPath,
        `${import.meta.dir}/../support/shared-limiter-worker.ts`,
        url,
        key,
        `${base}`,
        `${started}`,
      ],
      { stdout: "pipe", stderr: "inherit" },
    ),
  );
  const perWindow = new Map<string, number>();
  for (const worker of workers) {
    const counts = JSON.parse(await new Response(worker.stdout).text()) as Record<string, number>;
    for (const [window, count] of Object.entries(counts)) {
      perWindow.set(window, (perWindow.get(window) ?? 0) + count);
    }
  }
  const counts = [...perWindow.entries()].toSorted().map(([, count]) => count);
  expect(counts.length).toBeGreaterThan(3);
  // The first and the last window contain only part of the load.
  expect(counts.slice(1, -1)).toEqual(counts.slice(1, -1).fill(60));
  expect(Math.max(...counts)).toBeLessThanOrEqual(60);
});
