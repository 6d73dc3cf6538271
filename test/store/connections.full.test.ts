import { enterPostgres } from "../support/store-suite/postgres-place.ts";
import { enterSqlite } from "../support/store-suite/sqlite-place.ts";
import { connectionParts, storeSuite, writerParts } from "../support/store-suite.ts";

storeSuite(
  "SQLite, opened by the service and by commands beside it",
  (clock) => enterSqlite(clock, true),
  writerParts,
);
storeSuite(
  "the PostgreSQL store behind a pooler",
  (clock) => enterPostgres(clock, "?prepare=false"),
  connectionParts,
);
