import { engineParts, storeSuite } from "../support/store-suite.ts";
import { enterPostgres } from "../support/store-suite/postgres-place.ts";

storeSuite("the PostgreSQL store", (clock) => enterPostgres(clock, ""), engineParts);
