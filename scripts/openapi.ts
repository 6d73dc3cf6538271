/**
 * Writes openapi.json and openapi-3.0.json from the table of operations. With --check it writes
 * nothing and fails if a file differs from the table.
 */

import { readConfig } from "../src/config.ts";
import { committedDocument } from "../src/http/api/contract/document.ts";
import { asOpenApi30 } from "../src/http/api/contract/openapi-3-0.ts";
import { apiOperations } from "../src/http/api/operations.ts";

const document = committedDocument(apiOperations(readConfig({}, {})));

for (const [name, content] of [
  ["openapi.json", document],
  ["openapi-3.0.json", asOpenApi30(document)],
] as const) {
  const file = Bun.file(new URL(`../${name}`, import.meta.url).pathname);
  const fresh = `${JSON.stringify(content, null, 2)}\n`;
  if (!process.argv.includes("--check")) {
    await Bun.write(file, fresh);
  } else if (!(await file.exists()) || (await file.text()) !== fresh) {
    console.error(`${name} differs from the table of operations; run npm run generate`);
    process.exitCode = 1;
  }
}
