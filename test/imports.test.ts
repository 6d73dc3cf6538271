import { test } from "bun:test";
import { importBesideService } from "./importing.ts";

test("an import of 50,000 rows streams, and a running service goes on answering", async () => {
  await importBesideService(50_000);
});
