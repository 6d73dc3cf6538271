import { enterPostgres } from "../support/store-suite/postgres-place.ts";
import { connectionParts, engineParts, storeSuite } from "../support/store-suite.ts";

storeSuite("the PostgreSQL store", (clock) => enterPostgres(clock, ""), engineParts);
storeSuite(
  "the PostgreSQL store behind a pooler",
  (clock) => enterPostgres(clock, "?prepare=false"),
  connectionParts,
);
