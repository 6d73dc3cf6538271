import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { issueOperator } from "../support/admin/operators.ts";
import { expectError } from "../support/responses.ts";
import { startTestService, surfaceEngine, type TestService } from "../support/service.ts";

/** Halves of surrogate pairs, alone or in the wrong order. A store would keep U+FFFD in their place. */
const broken = ["\\ud800", "a\\udc00b", "\\ude00\\ud83d"];

describe.each([surfaceEngine])(
  "a name with a lone surrogate on %s is refused, and nothing changes",
  (engine) => {
    let service: TestService;
    let key: string;
    beforeAll(async () => {
      service = await startTestService(engine);
      key = (await issueOperator(service)).text;
    });
    afterAll(() => service.stop());

    const send = (method: string, path: string, body: string) =>
      service.call(method, `~/admin${path}`, { key, body });

    test("for a new key, and for a key that has another name", async () => {
      const created = await send("POST", "/keys", '{"name":"\\ud83d\\ude00","plan":"pro"}');
      const { id } = created.json as { id: string };
      const { length } = await service.store.keys.listKeys();
      for (const name of broken) {
        expectError(
          await send("POST", "/keys", `{"name":"${name}","plan":"pro"}`),
          "invalid_request",
        );
        const operator = `{"name":"${name}","kind":"operator"}`;
        expectError(await send("POST", "/keys", operator), "invalid_request");
        expectError(await send("PATCH", `/keys/${id}`, `{"name":"${name}"}`), "invalid_request");
      }
      const keys = await service.store.keys.listKeys();
      expect(keys).toHaveLength(length);
      expect(keys.find((one) => one.id === id)?.name).toBe("😀");
    });

    test("for a webhook", async () => {
      for (const name of broken) {
        const body = `{"url":"https://hooks.example/","name":"${name}"}`;
        expectError(await send("POST", "/webhooks", body), "invalid_request");
      }
      expect((await service.call("GET", "~/admin/webhooks", { key })).json).toEqual([]);
    });
  },
);
