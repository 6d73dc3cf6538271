// test/run.ts loads this into every process of tests, before the first file. Its hook runs after the last file.
import { afterAll } from "bun:test";
import { processEnd } from "./process-end.ts";

processEnd.isAwaited = true;
afterAll(async () => {
  for (const end of processEnd.work) await end();
});
