import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { run } from "./support/client/package.ts";
import { startTestService, type TestService } from "./support/service.ts";

// The collection in the runner of Postman: `npm run test:packages`.

let tools: string;
let service: TestService;
beforeAll(async () => {
  tools = await mkdtemp(join(tmpdir(), "petstore-newman-"));
  const manifest = { private: true, dependencies: { newman: "6.2.2" } };
  await Bun.write(join(tools, "package.json"), JSON.stringify(manifest));
  await run(["npm", "install", "--no-audit", "--no-fund", "--no-package-lock"], tools);
  service = await startTestService();
  await service.addPets({ petId: 7n, quantity: 30 });
}, 300_000);
afterAll(async () => {
  await service.stop();
  await rm(tools, { recursive: true, force: true });
});

test("Postman's runner sends every request of the collection, and each succeeds", async () => {
  const { text: key } = await service.issueKey();
  const report = join(tools, "report.json");
  const variables = [`baseUrl=${service.baseUrl}`, `apiKey=${key}`];
  await run(
    [
      ...[join(tools, "node_modules/.bin/newman"), "run"],
      resolve(import.meta.dir, "../examples/petstore.postman_collection.json"),
      ...variables.flatMap((one) => ["--env-var", one]),
      ...["--reporters", "json", "--reporter-json-export", report],
    ],
    tools,
  );
  const { executions } = (await Bun.file(report).json()).run;
  expect(executions.length).toBeGreaterThan(10);
  const failed = executions.filter((one: Execution) => one.response?.code !== 200);
  expect(failed.map((one: Execution) => `${one.item.name}: ${one.response?.code}`)).toEqual([]);
}, 60_000);

interface Execution {
  readonly item: { readonly name: string };
  readonly response?: { readonly code: number };
}
