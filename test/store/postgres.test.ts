import { enterPostgres } from "../support/store-suite/postgres-place.ts";
import { engineParts, storeSuite } from "../support/store-suite.ts";

storeSuite("the PostgreSQL store", (clock) => enterPostgres(clock, ""), engineParts);
