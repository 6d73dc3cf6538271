import { expect, test } from "bun:test";
import type { ErrorCode } from "../../src/domain/running/errors.ts";
import { statusOf } from "../../src/http/messages/errors.ts";
import { onEveryEngine } from "../support/conformance.ts";
import { apiDocument } from "../support/contract/document.ts";
import { expectError } from "../support/responses.ts";
import type { TestResponse } from "../support/service.ts";

onEveryEngine("errors", (service) => {
  /** One response for every error that a single request can cause. */
  async function errorResponses(): Promise<[ErrorCode, TestResponse][]> {
    const { text: key } = await service().issueKey();
    const { text: narrow } = await service().issueKey({ scopes: ["pets:read"] });
    const limits = { perMinute: 1, perDay: 1 };
    const { text: spent } = await service().issueKey({ plan: "enterprise", limits });
    const body = '{"quantity":1}';
    const call = service().call;
    await call("GET", "/inventory", { key: spent });
    const type = { "Content-Type": "text/csv" };
    return [
      ["invalid_request", await call("PATCH", "/inventory/x", { key, body })],
      ["unauthorized", await call("GET", "/inventory")],
      ["insufficient_scope", await call("GET", "/inventory", { key: narrow })],
      ["not_found", await call("PATCH", "/inventory/404", { key, body })],
      ["method_not_allowed", await call("POST", "/inventory", { key, body })],
      [
        "payload_too_large",
        await call("PATCH", "/inventory/1", { key, body: body.padEnd(70_000) }),
      ],
      ["unsupported_media_type", await call("PATCH", "/inventory/1", { key, body, headers: type })],
      ["rate_limit_exceeded", await call("GET", "/inventory", { key: spent })],
    ];
  }

  test("[records.4] an Error has exactly code, message and status", async () => {
    for (const [code, response] of await errorResponses()) expectError(response, code);
  });

  test("[errors.1] the status field repeats the HTTP status", async () => {
    for (const [code, response] of await errorResponses()) {
      expect((response.json as { status: number }).status).toBe(response.status);
      expect(response.status).toBe(statusOf[code]);
    }
  });

  test("[errors.2] 400, 401, 404 and 429 mean what the table of errors says", async () => {
    const found = new Map(await errorResponses());
    expect(found.get("invalid_request")?.status).toBe(400);
    expect(found.get("unauthorized")?.status).toBe(401);
    expect(found.get("not_found")?.status).toBe(404);
    expect(found.get("rate_limit_exceeded")?.status).toBe(429);
  });

  test("[open.paths] a 404 names the path that was probably meant", async () => {
    const { text: key } = await service().issueKey();
    const cases = {
      "~/inventory": "Paths of the API start with /v1: /v1/inventory.",
      "~/inventory/7": "Paths of the API start with /v1: /v1/inventory/7.",
      "~/store/orders/": "Paths of the API start with /v1: /v1/store/orders.",
      "~/v1/inventory/": "Without the extra slash, it is /v1/inventory.",
      "~/v1//inventory": "Without the extra slash, it is /v1/inventory.",
      "~/v1/inventory/7/history/": "Without the extra slash, it is /v1/inventory/7/history.",
      "~/v1/inventry": "Did you mean /v1/inventory?",
      "~/v1/Inventory/7?x=1": "Did you mean /v1/inventory/7?",
      "~/v1/pet/7": "Did you mean /v1/pets/7?",
      "~/V1/inventory": "Did you mean /v1/inventory?",
      "~/inventori": "Did you mean /v1/inventory?",
      "~/health": "Did you mean /healthz?",
      "~/ADMIN/PETS/EXPORT": "Did you mean /admin/pets/export?",
      "~/v1/nothing": "Path not found.",
      "~/nothing": "Path not found.",
      [`~/v1/${"inventory".repeat(1_000)}`]: "Path not found.",
    };
    for (const [path, end] of Object.entries(cases)) {
      const response = await service().call("GET", path, { key });
      expect(response.status).toBe(404);
      expect(`${path}: ${(response.json as { message: string }).message}`).toEndWith(end);
      // Without a key, only paths outside of /v1 are explained.
      if (!path.startsWith("~/v1/")) continue;
      expectError(await service().call("GET", path), "unauthorized");
      const options = await service().call("OPTIONS", path);
      expect((options.json as { message: string }).message).toBe("Path not found.");
    }
  });

  test("[open.codes] every code is documented, each with one status", () => {
    const { code } = apiDocument.components.schemas.Error!.properties!;
    expect(code!["x-error-codes"]).toEqual({
      invalid_request: 400,
      unauthorized: 401,
      insufficient_scope: 403,
      not_found: 404,
      method_not_allowed: 405,
      idempotency_conflict: 409,
      insufficient_stock: 409,
      version_conflict: 409,
      gone: 410,
      precondition_failed: 412,
      payload_too_large: 413,
      unsupported_media_type: 415,
      idempotency_key_reused: 422,
      rate_limit_exceeded: 429,
      key_banned: 429,
      internal_error: 500,
      unavailable: 503,
    });
    expect(statusOf).toMatchObject(code!["x-error-codes"]!);
  });

  test("[open.messages] a message never shows internal details", async () => {
    for (const [, response] of await errorResponses()) {
      expect(response.text).not.toMatch(/SQL|stack|\.ts|node_modules|Error:|undefined/i);
    }
  });
});
