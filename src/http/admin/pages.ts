import { createFile, onFirstRequest } from "../pages/files.ts";
import type { Pages } from "../pages/pages.ts";
import { describeAdminApi } from "./contract/document.ts";
import type { AdminOperation } from "./operation.ts";
import { adminBasePath } from "./operations.ts";

/** Serves the description of the operator API. It contains no secrets and requires no key. */
export function adminPages(operations: readonly AdminOperation[]): Pages {
  const headers = { "Content-Type": "application/json", "X-Content-Type-Options": "nosniff" };
  const page = onFirstRequest(() =>
    createFile(JSON.stringify(describeAdminApi(operations)), headers),
  );
  return { [`${adminBasePath}/openapi.json`]: page };
}
