import { readConfig } from "../../src/config.ts";
import { apiOperations } from "../../src/http/api/operations.ts";

/** The operations of the API with the default settings. */
export const operations = apiOperations(readConfig({}, {}));
