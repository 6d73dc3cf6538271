import { enterPostgres } from "../support/store-suite/postgres-place.ts";
import { enterSqlite } from "../support/store-suite/sqlite-place.ts";
import { storeSuite } from "../support/store-suite.ts";

// The suite has a few parts of these.
storeSuite("the PostgreSQL store, whole", (clock) => enterPostgres(clock, ""));
storeSuite("the PostgreSQL store behind a pooler, whole", (clock) =>
  enterPostgres(clock, "?prepare=false"),
);
storeSuite("SQLite, opened by the service, whole", (clock) => enterSqlite(clock, true));
