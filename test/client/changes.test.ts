import { describe, expect, test } from "bun:test";
import { isApiError, PetstoreClient, type StockChange } from "../../client/src/index.ts";
import { rejectionOf } from "../support/client/rejection.ts";
import { apiKey, ScriptedServer } from "../support/client/scripted-server.ts";

const createClient = (server: ScriptedServer) =>
  new PetstoreClient({ baseUrl: server.baseUrl, apiKey, backoffBaseMs: 0 });

describe("applyChanges", () => {
  test("sends the changes in order, with every digit of their ids", async () => {
    await using server = new ScriptedServer();
    const bodies: string[] = [];
    server.enqueue(async (request) => {
      bodies.push(await request.text());
      return new Response(
        '{"entries":[{"petId":9223372036854775807,"quantity":3,"status":"sold","version":12}]}',
      );
    });
    const entries = await createClient(server).applyChanges([
      { petId: 2n ** 63n - 1n, quantity: 3 },
      { petId: -(2n ** 63n), delta: -2, reason: 'sold "Rex" é' },
      { petId: 7, delta: 0, expectedVersion: 5 },
      { petId: 7n, quantity: Number.NaN, reason: undefined },
    ]);
    expect(bodies).toEqual([
      `{"changes":[{"petId":9223372036854775807,"quantity":3},{"petId":-9223372036854775808,"delta":-2,"reason":"sold \\"Rex\\" é"},{"petId":7,"delta":0,"expectedVersion":5},{"petId":7,"quantity":null}]}`,
    ]);
    expect(entries).toEqual([{ petId: 2n ** 63n - 1n, quantity: 3, status: "sold", version: 12 }]);
    expect(JSON.stringify(entries)).toContain('"petId":9223372036854775807,');
    expect(server.received[0]).toMatchObject({ method: "POST", path: "/v1/changes" });
    expect(server.received[0]?.headers.get("content-type")).toBe("application/json");
  });

  test("rejects arguments that are obviously wrong, names the change, and sends nothing", async () => {
    await using server = new ScriptedServer();
    const client = createClient(server);
    const valid = { petId: 1, delta: 1 };
    const either = "changes[1] must have either a quantity or a delta";
    const mistakes: [unknown, string][] = [
      [undefined, either],
      [null, either],
      [7, either],
      [{ petId: 1 }, either],
      [{ petId: 1, quantity: "5" }, either],
      [{ petId: 1, delta: 1n }, either],
      [{ petId: 1, quantity: 5, delta: 1 }, either],
      [{ petId: 1, quantity: null, delta: 1 }, either],
      [{ petId: 2 ** 53, delta: 1 }, "changes[1].petId must be a 64-bit bigint"],
      [{ delta: 1 }, "changes[1].petId must be a 64-bit bigint"],
      [{ ...valid, expectedVersion: undefined }, "changes[1].expectedVersion must be a number"],
      [{ ...valid, expectedVersion: "5" }, "changes[1].expectedVersion must be a number"],
      [{ ...valid, reason: 5 }, "changes[1].reason must be a string"],
      [{ ...valid, reason: "\ud800" }, "changes[1].reason must be a string"],
    ];
    for (const [mistake, message] of mistakes) {
      const changes = [valid, mistake] as StockChange[];
      expect(String(await rejectionOf(client.applyChanges(changes)))).toContain(message);
    }
    for (const changes of [undefined, valid, "x"]) {
      const error = await rejectionOf(client.applyChanges(changes as unknown as StockChange[]));
      expect(error).toBeInstanceOf(TypeError);
    }
    expect(server.received).toEqual([]);
  });

  test("with dryRun asks for a dry run, and reports a response that does not say it was one", async () => {
    await using server = new ScriptedServer();
    const client = createClient(server);
    const sent: string[] = [];
    const entry =
      '{"petId":1,"quantity":4,"status":"sold","version":9,"before":{"quantity":5,"status":"sold"}}';
    for (const start of ['{"dryRun":true,', '{"dryRun":false,', "{"]) {
      server.enqueue(async (request) => {
        sent.push(await request.text());
        return new Response(`${start}"entries":[${entry}]}`);
      });
    }
    const tryOut = () => client.applyChanges([{ petId: 1, delta: -1 }], { dryRun: true });
    const [item] = await tryOut();
    expect(item).toMatchObject({ petId: 1n, quantity: 4, before: { quantity: 5, status: "sold" } });
    expect(sent).toEqual(['{"dryRun":true,"changes":[{"petId":1,"delta":-1}]}']);
    for (let at = 0; at < 2; at++) {
      expect(String(await rejectionOf(tryOut()))).toContain("dryRun is not true");
    }
    for (const dryRun of [undefined, "true", 1]) {
      const call = client.applyChanges([{ petId: 1, delta: -1 }], { dryRun } as never);
      expect(String(await rejectionOf(call))).toContain("dryRun must be true or false");
    }
    expect(sent).toHaveLength(3);
  });

  test("reports a response that does not match the contract", async () => {
    await using server = new ScriptedServer();
    const bodies = {
      "[]": "expected an object",
      "{}": "expected an array",
      '{"entries":[{"petId":1,"quantity":1,"status":"sold"}]}': "version is not an integer",
      '{"entries":[{"petId":1,"quantity":1,"status":"x","version":1}]}': "status is not one of",
      '{"entries":[{"petId":1,"quantity":1,"status":"sold","version":1,"before":{}}]}':
        "quantity is not an integer",
    };
    for (const [body, reason] of Object.entries(bodies)) {
      server.enqueue(() => new Response(body));
      const error = await rejectionOf(createClient(server).applyChanges([{ petId: 1, delta: 1 }]));
      expect(isApiError(error) && error.code).toBe("unexpected_answer");
      expect(String(error)).toContain(reason);
    }
  });
});
