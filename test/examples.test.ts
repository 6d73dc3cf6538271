import { afterAll, beforeAll, expect, test } from "bun:test";
import { chmod, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startTestService, type TestService } from "./support/service.ts";

const root = new URL("..", import.meta.url).pathname;
const largestId = 9223372036854775807n;
let service: TestService;

beforeAll(async () => {
  service = await startTestService();
  await service.addPets(
    { petId: 7n, quantity: 3 },
    { petId: 8n, quantity: 20 },
    { petId: largestId, quantity: 1 },
  );
});
afterAll(() => service.stop());

interface Outcome {
  readonly exitCode: number;
  readonly output: string;
  readonly errors: string;
}

async function run(
  command: string[],
  key: string,
  extra: { input?: string; path?: string } = {},
): Promise<Outcome> {
  const child = Bun.spawn(command, {
    cwd: root,
    env: {
      PATH: `${extra.path ?? ""}${process.env.PATH}`,
      BASE_URL: service.baseUrl,
      API_KEY: key,
    },
    stdin: new Blob([extra.input ?? ""]),
    stdout: "pipe",
    stderr: "pipe",
  });
  const [output, errors, exitCode] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  return { exitCode, output, errors };
}

test("curl.sh lists the stock, updates a count and gets a 304 for an unchanged list", async () => {
  const { text: key } = await service.issueKey();
  const { exitCode, output, errors } = await run(["sh", "examples/curl.sh"], key);
  expect([exitCode, errors]).toEqual([0, ""]);
  expect(output).toContain(`{"petId":${largestId},"quantity":1,"status":"available"}`);
  expect(output).toContain('New count for pet 7:\n{"petId":7,"quantity":12,"status":"available"}');
  expect(output).toEndWith("If-None-Match: 304\n");
});

test("restock.ts restocks pets with a low count and keeps all digits of their ids", async () => {
  const { text: key } = await service.issueKey();
  const { exitCode, output, errors } = await run(
    [process.execPath, "examples/restock.ts", "15"],
    key,
  );
  expect([exitCode, errors]).toEqual([0, ""]);
  expect(output).toContain(`pet ${largestId}: 1 before, 15 now`);
  expect(output).not.toContain("pet 8:");
  expect(output).toContain("requests left in this window");
});

test("stock-take.sh waits for Retry-After, sets every count and gets no strike", async () => {
  const { text: key, id } = await service.issueKey({ limits: { perMinute: 3, perDay: 1_000 } });
  await using sleep = await simulateSleep();
  const lines = [1, 2, 3, 4, 5, 6, 7].map((quantity) => `${largestId} ${quantity}`);
  const { exitCode, output, errors } = await run(["sh", "examples/stock-take.sh"], key, {
    // The last line has no line feed.
    input: ["404 1", ...lines].join("\n"),
    path: `${sleep.folder}:`,
  });
  expect(exitCode).toBe(0);
  expect(errors).toMatch(/^404: error, \{"code":"not_found"/);
  expect(output.trim().split("\n")).toEqual(lines.map((line) => line.replace(" ", ": ")));
  // Eight requests at three a minute: the script waits twice, each time until the window ends.
  expect(sleep.seconds.length).toBe(2);
  for (const pause of sleep.seconds) expect(pause).toBeGreaterThanOrEqual(60);
  expect(service.logged.filter((line) => line.includes(id))).toEqual([]);
});

/** Creates a `sleep` command that advances the service's clock instead of waiting. */
async function simulateSleep() {
  const seconds: number[] = [];
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch(request) {
      const pause = Number(new URL(request.url).pathname.slice(1));
      seconds.push(pause);
      service.clock.advance(pause * 1000);
      return new Response();
    },
  });
  const folder = await mkdtemp(join(tmpdir(), "petstore-sleep-"));
  const script = join(folder, "sleep");
  await Bun.write(script, `#!/bin/sh\nexec curl -fsS "${server.url}$1"\n`);
  await chmod(script, 0o755);
  return {
    folder,
    seconds,
    async [Symbol.asyncDispose]() {
      await server.stop(true);
      await rm(folder, { recursive: true, force: true });
    },
  };
}
