import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { commandLine } from "../../src/domain/audit.ts";
import { issueOperatorKey } from "../../src/domain/key-lifecycle.ts";
import { engines, startTestService, type TestService } from "../support/service.ts";

describe.each(engines)("sessions on %s", (engine) => {
  let service: TestService;
  beforeAll(async () => {
    service = await startTestService(engine);
  });
  afterAll(() => service.stop());

  test("a key is exchanged for a cookie, which identifies the operator", async () => {
    const issued = await issueOperatorKey(
      service.store,
      "production",
      service.clock.now(),
      { name: "Ada" },
      commandLine,
    );
    const started = await service.call("POST", "~/admin/session", { key: issued.text });
    expect(started.status).toBe(201);
    const cookie = started.headers.get("set-cookie")!;
    expect(cookie).toMatch(/^petstore_production=/);
    const headers = { Cookie: cookie.split(";")[0]! };
    expect((await service.call("GET", "~/admin/session", { headers })).json).toEqual(started.json);
    expect((await service.call("DELETE", "~/admin/session", { headers })).status).toBe(403);
    const own = { ...headers, "Sec-Fetch-Site": "same-origin" };
    expect((await service.call("DELETE", "~/admin/session", { headers: own })).status).toBe(204);
    expect((await service.call("GET", "~/admin/session", { headers })).status).toBe(401);
  });
});
