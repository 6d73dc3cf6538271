import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { cpSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startTestService, type TestService } from "../support/service.ts";
import { type CallResults, largeQuantity, wideId } from "./call-results.ts";

/**
 * Generates a client from the served description, compiles it and calls the service with it. The
 * generators are installed from npm into a temporary folder, because they need 84 packages and
 * another TypeScript that nothing else needs.
 */

const root = join(import.meta.dir, "../..");
const minutesMs = 300_000;

const generators = {
  "openapi-typescript": ["openapi-typescript/bin/cli.js", "openapi.json", "-o", "schema.ts"],
  "hey-api": ["@hey-api/openapi-ts/bin/run.js", "-i", "openapi.json", "-o", "hey", "--silent"],
};

let installed: string;
let service: TestService;
let key: string;
beforeAll(async () => {
  installed = mkdtempSync(join(tmpdir(), "petstore-generators-"));
  for (const file of ["package.json", "package-lock.json"]) {
    cpSync(join(import.meta.dir, file), join(installed, file));
  }
  await run(installed, ["npm", "ci", "--no-audit", "--no-fund", "--ignore-scripts"]);
  service = await startTestService();
  key = (await service.issueKey()).text;
  await service.addOrders({
    line: 1,
    id: 5n,
    petId: 7n,
    quantity: largeQuantity,
    shipDate: null,
    status: "placed",
    complete: false,
  });
}, minutesMs);
afterAll(async () => {
  await service.stop();
  rmSync(installed, { recursive: true, force: true });
});

for (const [name, [script, ...flags]] of Object.entries(generators)) {
  describe.each(["openapi.json", "openapi-3.0.json"])(`${name} on %s`, (document) => {
    test(
      "generates a client that compiles and reads every response, including large numbers and errors, and types of webhook messages",
      async () => {
        const folder = mkdtempSync(join(installed, `${name}-`));
        await service.addPets({ petId: 7n, quantity: 3 }, { petId: wideId, quantity: 2 ** 53 - 1 });
        const { text } = await service.call("GET", `~/${document}`);
        writeFileSync(join(folder, "openapi.json"), text);
        // Bun runs the generators: some of them do not run on the oldest supported Node.
        await run(folder, [process.execPath, join(installed, "node_modules", script!), ...flags]);
        cpSync(join(import.meta.dir, "call-results.ts"), join(folder, "call-results.ts"));
        cpSync(join(import.meta.dir, "programs", `${name}.ts`), join(folder, "program.ts"));
        // OpenAPI 3.0 has no place for the messages of webhooks.
        if (document === "openapi.json") {
          const messages = `${name}-webhooks.ts`;
          cpSync(join(import.meta.dir, "programs", messages), join(folder, messages));
        }
        writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions }));
        await run(folder, [join(root, "node_modules/.bin/tsc"), "--project", "."]);
        const { callService } = await import(join(folder, "program.ts"));
        expect(await callService(service.baseUrl, key)).toEqual(expected);
      },
      minutesMs,
    );
  });
}

const compilerOptions = {
  target: "ESNext",
  module: "Preserve",
  moduleResolution: "bundler",
  strict: true,
  noEmit: true,
  allowImportingTsExtensions: true,
  lib: ["ESNext", "DOM", "DOM.Iterable"],
  types: [],
};

const expected: CallResults = {
  listed: [
    { petId: 7, quantity: 3, status: "available" },
    // JSON.parse rounds this id, as in any JavaScript program. The quantity is exact.
    { petId: Number(wideId), quantity: 2 ** 53 - 1, status: "available" },
  ],
  updated: { petId: 7, quantity: largeQuantity, status: "available" },
  refused: { code: "not_found", message: expect.any(String), status: 404 },
  wide: `{"petId":${wideId},"quantity":${largeQuantity},"status":"available"}`,
  applied: Array(2).fill({
    entries: [expect.objectContaining({ petId: 7, quantity: largeQuantity - 1 })],
  }),
  created: expect.objectContaining({ before: null, after: { quantity: 3, status: "available" } }),
  ordered: [expect.objectContaining({ id: 5, quantity: largeQuantity, shipDate: null })],
};

/** Runs a command and waits for it. If it fails, the error contains its output. */
async function run(cwd: string, command: readonly string[]): Promise<void> {
  const child = Bun.spawn([...command], { cwd, stdout: "pipe", stderr: "pipe" });
  const [out, err, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  if (code !== 0) throw new Error(`${command.join(" ")} exited with ${code}:\n${out}${err}`);
}
