import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { run } from "../support/client/package.ts";
import { startTestService, type TestService } from "../support/service.ts";

// Calls the tools of assistants with the inspector of the Model Context Protocol: `npm run test:packages`.
// It is installed into a temporary folder, because it is 120 packages and 110 MB that nothing else needs.
// It runs on Bun, because it needs a newer Node than we do.

let folder: string;
let service: TestService;
let key: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "petstore-inspector-"));
  const dependencies = { "@modelcontextprotocol/inspector": "2.12.0" };
  await Bun.write(join(folder, "package.json"), JSON.stringify({ private: true, dependencies }));
  const install = ["npm", "install", "--ignore-scripts", "--no-audit", "--no-fund"];
  await run([...install, "--no-package-lock"], folder);
  service = await startTestService("sqlite", { mcp: "on" });
  key = (await service.issueKey()).text;
  await service.addPets({ petId: 1n, name: "Rex", quantity: 4 });
}, 300_000);

afterAll(async () => {
  await service.stop();
  await rm(folder, { recursive: true, force: true });
});

test.each(["legacy", "modern"])(
  "the inspector lists and calls tools, %s",
  async (era) => {
    const inspect = async (...words: string[]) => {
      const program = [process.execPath, "node_modules/.bin/mcp-inspector", "--cli"];
      const server = [new URL("/mcp", service.baseUrl).href, "--transport", "http"];
      const terms = ["--header", `Authorization: Bearer ${key}`, "--protocol-era", era];
      const command = [...program, ...server, ...terms, "--method", ...words];
      // Its settings file must not be that of the person who runs this.
      return JSON.parse(await run(command, folder, { HOME: folder }));
    };
    const { tools } = await inspect("tools/list");
    expect(tools).toHaveLength(9);
    const change = ["tools/call", "--tool-name", "change_stock", "--tool-arg", "reason=delivery"];
    const { content } = await inspect(...change, "--tool-arg", 'changes=[{"petId":1,"delta":2}]');
    expect(JSON.parse(content[0].text)).toMatchObject({ entries: [{ petId: 1 }] });
  },
  60_000,
);
