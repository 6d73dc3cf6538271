import { afterAll, beforeAll, expect, test } from "bun:test";
import { startTestService, surfaceEngine, type TestService } from "../support/service.ts";

let service: TestService;
beforeAll(async () => {
  service = await startTestService(surfaceEngine);
});
afterAll(() => service.stop());

const get = (path: string, headers: Record<string, string> = {}) =>
  service.call("GET", `~${path}`, { headers });

test("every page of the console has a policy without unsafe sources, and cannot be framed", async () => {
  for (const path of ["/", "/console", "/console/stock", "/console/keys/any/thing"]) {
    const { status, headers, text } = await get(path);
    expect({ path, status }).toEqual({ path, status: 200 });
    const policy = headers.get("content-security-policy")!;
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).toContain("require-trusted-types-for 'script'");
    expect(policy).toContain("trusted-types 'none'");
    expect(policy).not.toMatch(/unsafe|https?:|\*|data:/);
    for (const name of ["cross-origin-opener-policy", "cross-origin-resource-policy"]) {
      expect(headers.get(name)).toBe("same-origin");
    }
    expect(text).not.toMatch(/<script(?! type="module" src="\/console)|<style| on\w+="| style="/);
  }
});

test("assets may be kept forever, and an asset of another build does not exist", async () => {
  const [path] = /\/console\/assets\/main-\w+\.js/.exec((await get("/console")).text)!;
  const { headers } = await get(path!);
  expect(headers.get("cache-control")).toBe("public, max-age=31536000, immutable");
  expect(headers.get("content-type")).toBe("text/javascript; charset=utf-8");
  expect((await get("/console/assets/main-00000000.js")).status).toBe(404);
  expect((await service.call("POST", "~/console")).status).toBe(405);
});

test("a browser with a session is led from / to the console, and others see where to go", async () => {
  const { text } = await get("/");
  expect(text).toContain('href="/console"');
  expect(text).toContain('href="/docs"');
  const response = await fetch(new URL("/", service.baseUrl), {
    headers: { Cookie: "petstore_production=x" },
    redirect: "manual",
  });
  expect([response.status, response.headers.get("location")]).toEqual([302, "/console"]);
});
