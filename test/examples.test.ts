import { Database } from "bun:sqlite";
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { chmod, copyFile, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { CuttingProxy } from "./support/client/cutting-proxy.ts";
import { linesOf } from "./support/lines.ts";
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
  extra: { input?: string; path?: string; env?: Record<string, string> } = {},
): Promise<Outcome> {
  const child = Bun.spawn(command, {
    cwd: root,
    env: {
      PATH: `${extra.path ?? ""}${process.env.PATH}`,
      BASE_URL: service.baseUrl,
      API_KEY: key,
      ...extra.env,
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

test("curl.sh lists the stock, updates a count, sells one pet, shows its history and gets a 304", async () => {
  const { text: key } = await service.issueKey();
  const { exitCode, output, errors } = await run(["sh", "examples/curl.sh"], key);
  expect([exitCode, errors]).toEqual([0, ""]);
  expect(output).toContain(`{"petId":${largestId},"quantity":1,"status":"available"}`);
  expect(output).toContain('New count for pet 7:\n{"petId":7,"quantity":12,"status":"available"}');
  expect(output).toContain('Sale of one of pet 7:\n{"entries":[{"petId":7,"quantity":11,');
  expect(output).toContain('"cause":"api"');
  expect(output).toContain('"reason":"sale"');
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

describe("till.ts", () => {
  const till = [process.execPath, "examples/till.ts"];

  /** The stock of pet 8, and the number of sales in its history. */
  async function stockOf8(key: string) {
    const { json: entry } = await service.call("GET", "/inventory/8", { key });
    const { json: rows } = await service.call("GET", "/inventory/8/history", { key });
    const sales = (rows as { reason: string | null }[]).filter(({ reason }) =>
      reason?.startsWith("sale "),
    );
    return { quantity: (entry as { quantity: number }).quantity, sales: sales.length };
  }

  test("sells without a connection, sends all sales later, and reports those that the service refuses", async () => {
    const { text: key } = await service.issueKey();
    await using folder = await temporaryFolder();
    const env = { TILL_FILE: join(folder.path, "till.db") };
    const offline = { ...env, BASE_URL: "http://127.0.0.1:1/v1" };
    const { quantity, sales } = await stockOf8(key);
    const outputs: string[] = [];
    for (const sale of [["8", "2"], ["8", "1000"], ["404"]]) {
      const { exitCode, output } = await run([...till, ...sale], key, { env: offline });
      expect(exitCode).toBe(0);
      outputs.push(output);
    }
    expect(outputs).toEqual([1, 2, 3].map((count) => `sales that wait: ${count}\n`));
    expect(await stockOf8(key)).toEqual({ quantity, sales });
    expect((await run([...till, "8"], key, { env })).output).toBe(
      `2 of pet 8: sold, ${quantity - 2} left
1000 of pet 8: refused (insufficient_stock): count this pet
1 of pet 404: refused (not_found): count this pet
1 of pet 8: sold, ${quantity - 3} left\n`,
    );
    expect((await run(till, key, { env })).output).toBe("");
    expect(await stockOf8(key)).toEqual({ quantity: quantity - 3, sales: sales + 2 });
  });

  test("that is killed after it sent a sale completes it later, also when its key is forgotten, and sells once", async () => {
    const { text: key } = await service.issueKey();
    await using folder = await temporaryFolder();
    await using proxy = await CuttingProxy.start(service.baseUrl);
    const file = join(folder.path, "till.db");
    const { quantity, sales } = await stockOf8(key);
    const expected = { quantity: quantity - 3, sales: sales + 1 };
    proxy.cutNext({
      bytes: 0,
      meanwhile: async () => {
        child.kill("SIGKILL");
        await child.exited;
      },
    });
    const child = Bun.spawn([...till, "8", "3"], {
      cwd: root,
      env: { ...process.env, BASE_URL: proxy.baseUrl, API_KEY: key, TILL_FILE: file },
    });
    await child.exited;
    expect(proxy.cutsLeft).toBe(0);
    expect(await stockOf8(key)).toEqual(expected);
    await copyFile(file, `${file}.old`);
    const { output } = await run(till, key, { env: { TILL_FILE: file } });
    expect(output).toBe(`3 of pet 8: sold, ${quantity - 3} left\n`);
    using database = new Database(`${file}.old`);
    database.run("UPDATE sales SET firstSentAt = firstSentAt - 8 * 86400000");
    const late = await run(till, key, { env: { TILL_FILE: `${file}.old` } });
    expect(late.output).toBe("3 of pet 8: sold\n");
    expect(await stockOf8(key)).toEqual(expected);
  });
});

test("count.ts asks again if the stock changed during the count, and overwrites nothing", async () => {
  const { text: key } = await service.issueKey();
  const set = (quantity: number) =>
    service.call("PATCH", "/inventory/8", { key, body: JSON.stringify({ quantity }) });
  await set(20);
  const child = Bun.spawn([process.execPath, "examples/count.ts", "8"], {
    cwd: root,
    env: { ...process.env, BASE_URL: service.baseUrl, API_KEY: key },
    stdin: "pipe",
    stdout: "pipe",
  });
  const lines = linesOf(child.stdout);
  const answer = async (text: string) => {
    child.stdin.write(`${text}\n`);
    await child.stdin.flush();
  };
  expect(await lines.next()).toMatchObject({ value: "pet 8: 20 on record. How many are there?" });
  await set(19);
  await answer("20");
  expect((await lines.next()).value).toContain("the stock changed while you counted");
  expect((await lines.next()).value).toBe("pet 8: 19 on record. How many are there?");
  expect((await service.call("GET", "/inventory/8", { key })).json).toMatchObject({ quantity: 19 });
  await answer("eighteen");
  expect((await lines.next()).value).toBe("Please enter a whole number.");
  await answer("18");
  expect((await lines.next()).value).toBe("pet 8: 18 recorded");
  expect(await child.exited).toBe(0);
  expect((await service.call("GET", "/inventory/8", { key })).json).toMatchObject({ quantity: 18 });
});

async function temporaryFolder() {
  const path = await mkdtemp(join(tmpdir(), "petstore-example-"));
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) };
}

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
