/**
 * Writes openapi.json from the table of operations. With --check it writes nothing and fails when
 * the committed file is not what the table makes.
 */
import { committedDocument } from "../src/api/contract/document.ts";
import { operations } from "../src/api/operations.ts";
import { readConfig } from "../src/config.ts";

const file = Bun.file(new URL("../openapi.json", import.meta.url).pathname);
const fresh = committedDocument(operations, readConfig({}, {}).petsSunsetAt);

if (!process.argv.includes("--check")) {
  await Bun.write(file, fresh);
} else if (!(await file.exists()) || (await file.text()) !== fresh) {
  console.error("openapi.json is not what the table of operations makes; run npm run openapi");
  process.exit(1);
}
