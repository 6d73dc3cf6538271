import { storeSuite } from "../support/store-suite.ts";
import { enterSqlite } from "../support/store-suite/sqlite-place.ts";

storeSuite("SQLite, opened by commands", (clock) => enterSqlite(clock, false));
