import { test } from "bun:test";
import { importBesideService } from "./importing.ts";

test("an import of 1,000,000 rows streams, and a running service goes on answering", async () => {
  await importBesideService(1_000_000);
}, 900_000);
