import { afterAll, beforeAll, expect, test } from "bun:test";
import { adminPages } from "../src/http/admin/contract/document.ts";
import { consolePages } from "../src/http/console/console-pages.ts";
import { referencePages } from "../src/http/docs/reference-pages.ts";
import { startTestService, type TestService } from "./support/service.ts";

/** What browsers are told about every page, and about every file that a page loads. */

let service: TestService;
beforeAll(async () => {
  service = await startTestService("sqlite", { "address-per-minute": "10000" });
});
afterAll(() => service.stop());

const options = { environment: "production", basePath: "/v1" } as const;
const documents = Object.keys(adminPages([]));
const reference = Object.keys(referencePages([], options));
/** Without the 404 of files that do not exist. */
const consoleFiles = Object.keys(consolePages(options.environment, () => {})).filter(
  (path) => path !== "/console/assets/*",
);

const all = [...documents, ...reference, ...consoleFiles];

test("every page and every file of a page has nosniff", async () => {
  for (const expected of ["/", "/docs", "/console", "/openapi.json", "/admin/openapi.json"]) {
    expect(all).toContain(expected);
  }
  for (const path of all) {
    const { status, headers } = await service.call("GET", `~${path.replace("*", "some/view")}`);
    expect([path, status]).toEqual([path, 200]);
    expect([path, headers.get("X-Content-Type-Options")]).toEqual([path, "nosniff"]);
  }
});

test("pages and their files send no address to other sites and run only their own scripts", async () => {
  for (const path of [...reference, ...consoleFiles]) {
    const { headers } = await service.call("GET", `~${path.replace("*", "some/view")}`);
    expect([path, headers.get("Referrer-Policy")]).toEqual([path, "no-referrer"]);
    const policy = headers.get("Content-Security-Policy");
    expect(policy).toStartWith("default-src 'none'; script-src 'self'; ");
    expect(policy).toContain("frame-ancestors 'none'");
    if (reference.includes(path)) continue;
    expect([path, headers.get("Cross-Origin-Opener-Policy")]).toEqual([path, "same-origin"]);
    expect([path, headers.get("Cross-Origin-Resource-Policy")]).toEqual([path, "same-origin"]);
  }
});
