import { enterSqlite } from "../support/store-suite/sqlite-place.ts";
import { storeSuite } from "../support/store-suite.ts";

storeSuite("SQLite, opened by commands", (clock) => enterSqlite(clock, false));
