import { resolve } from "node:path";

/** How a service in the process of the tests starts its own commands. */
export const program = [process.execPath, resolve(import.meta.dir, "../../src/main.ts")];
