import { enterSqlite } from "../support/store-suite/sqlite-place.ts";
import { storeSuite, writerParts } from "../support/store-suite.ts";

storeSuite("SQLite, opened by commands", (clock) => enterSqlite(clock, false));
storeSuite(
  "SQLite, opened by the service and by commands beside it",
  (clock) => enterSqlite(clock, true),
  writerParts,
);
