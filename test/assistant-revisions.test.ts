import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { earlier, revisions, version } from "./support/assistants.ts";
import { startTestService, surfaceEngine, type TestService } from "./support/service.ts";

describe.each([surfaceEngine])("an assistant of an earlier revision on %s", (engine) => {
  let service: TestService;
  let key: { id: string; text: string };
  beforeAll(async () => {
    service = await startTestService(engine, { mcp: "on" });
    key = await service.issueKey();
    await service.addPets(...[1n, 2n, 3n].map((petId) => ({ petId, quantity: 10 })));
  });
  afterAll(() => service.stop());
  const send = (body: string, headers: Record<string, string> = {}, text = key.text) =>
    service.call("POST", "~/mcp", { key: text, body, headers });

  test.each([
    [revisions[3], revisions[3]],
    [revisions[2], revisions[2]],
    [revisions[1], revisions[1]],
    // The current one has no handshake.
    [revisions[0], revisions[1]],
    ["2024-11-05", revisions[1]],
    [null, revisions[1]],
    [[revisions[3]], revisions[1]],
  ])("asks for revision %p and gets %s", async (asked, got) => {
    const hello = earlier("initialize", { protocolVersion: asked, capabilities: {} });
    // The header is that of an earlier session, if there is one.
    for (const headers of [{}, version(revisions[2]), version("2024-11-05")]) {
      const { status, json } = await send(hello, headers);
      expect([status, json]).toMatchObject([200, { id: "a", result: { protocolVersion: got } }]);
      expect(Object.keys((json as { result: object }).result).toSorted()).toEqual([
        "capabilities",
        "instructions",
        "protocolVersion",
        "serverInfo",
      ]);
    }
  });

  test("is told all revisions, and so is who reads the documentation", async () => {
    const refused = await send(earlier("ping"), version("2024-11-05"));
    expect(refused.json).toMatchObject({ error: { data: { supported: revisions } } });
    const page = await Bun.file("docs/assistants.md").text();
    for (const one of revisions) expect(page).toContain(one);
  });

  test.each(["no header", ...revisions.slice(1)])(
    "says nothing that %s does not know",
    async (one) => {
      const headers = one === "no header" ? {} : version(one);
      const { json: listed } = await send(earlier("tools/list"), headers);
      const { tools, ...others } = (listed as { result: { tools: object[] } }).result;
      expect(others).toEqual({});
      for (const tool of tools) {
        expect(Object.keys(tool).toSorted()).toEqual([
          "annotations",
          "description",
          "inputSchema",
          "name",
        ]);
      }
      const call = earlier("tools/call", { name: "get_stock", arguments: { petId: 3 } });
      expect((await send(call, headers)).json).toEqual({
        ...{ jsonrpc: "2.0", id: "a" },
        result: {
          content: [{ type: "text", text: expect.stringContaining('"petId":3') }],
          isError: false,
        },
      });
      expect((await send(earlier("ping"), headers)).json).toEqual({
        ...{ jsonrpc: "2.0", id: "a", result: {} },
      });
      const level = await send(earlier("logging/setLevel", { level: "debug" }), headers);
      expect([level.status, level.json]).toMatchObject([200, { error: { code: -32601 } }]);
      const gone = { requestId: "a", reason: "late" };
      const note = JSON.stringify({
        jsonrpc: "2.0",
        method: "notifications/cancelled",
        params: gone,
      });
      expect((await send(note, headers)).status).toBe(202);
    },
  );
});
