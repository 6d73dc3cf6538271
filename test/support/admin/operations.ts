import { readConfig } from "../../../src/config.ts";
import { adminOperations } from "../../../src/http/admin/operations.ts";

/** The operations of the operator API with the default settings. */
export const operations = adminOperations(readConfig({}, {}));
