/**
 * Writes openapi.json, openapi-3.0.json and openapi-admin.json from the tables of operations. With
 * --check it writes nothing and fails if a file differs from its table.
 */

import { readConfig } from "../src/config.ts";
import { describeAdminApi } from "../src/http/admin/contract/document.ts";
import { adminOperations } from "../src/http/admin/operations.ts";
import { committedDocument } from "../src/http/api/contract/document.ts";
import { asOpenApi30 } from "../src/http/api/contract/openapi-3-0.ts";
import { apiOperations } from "../src/http/api/operations.ts";
import { joinShortLines } from "./short-lines.ts";

const config = readConfig({}, {});
const document = committedDocument(apiOperations(config));

for (const [name, content] of [
  ["openapi.json", document],
  ["openapi-3.0.json", asOpenApi30(document)],
  ["openapi-admin.json", describeAdminApi(adminOperations(config))],
] as const) {
  const file = Bun.file(new URL(`../${name}`, import.meta.url).pathname);
  const fresh = `${joinShortLines(JSON.stringify(content, null, 2))}\n`;
  if (!process.argv.includes("--check")) {
    await Bun.write(file, fresh);
  } else if (!(await file.exists()) || (await file.text()) !== fresh) {
    console.error(`${name} differs from the table of operations; run npm run generate`);
    process.exitCode = 1;
  }
}
