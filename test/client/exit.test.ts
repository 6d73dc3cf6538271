import { describe, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { positionEvent, ScriptedFeed } from "../support/client/scripted-feed.ts";
import { apiKey, errorResponse, ScriptedServer } from "../support/client/scripted-server.ts";

// Each test runs a program under Node and Bun, to check that the client does not keep it running.

/** Shorter than the waits in the scripts, but long enough for a program to exit on a slow machine. */
const exitMsMax = 15_000;
const entryPoint = new URL("../../client/src/index.ts", import.meta.url).pathname;

/** Bundles the client into one JavaScript file, which Node can run. */
async function bundleClient() {
  const folder = await mkdtemp(join(tmpdir(), "petstore-exit-"));
  const built = await Bun.build({
    entrypoints: [entryPoint],
    outdir: folder,
    naming: "client.mjs",
  });
  if (!built.success) throw new Error(String(built.logs));
  return { folder, [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }) };
}

/** Runs the program until it exits; returns its output. Fails if it does not exit in time. */
async function runToExit(runtime: string, program: string, baseUrl: string): Promise<string> {
  await using bundle = await bundleClient();
  const file = join(bundle.folder, "program.mjs");
  const options = JSON.stringify({ baseUrl, apiKey });
  await Bun.write(
    file,
    `import { PetstoreClient } from "./client.mjs";
     const options = ${options};
     const client = new PetstoreClient(options);
     ${program}`,
  );
  const child = Bun.spawn([runtime, file], { stdout: "pipe", stderr: "pipe" });
  const timeout = setTimeout(() => child.kill("SIGKILL"), exitMsMax);
  const [output, errors] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  clearTimeout(timeout);
  expect({ errors, signal: child.signalCode }).toEqual({ errors: "", signal: null });
  return output;
}

const exhausted = (seconds: number) => () =>
  new Response("[]", {
    headers: {
      "x-ratelimit-limit": "60",
      "x-ratelimit-remaining": "0",
      "x-ratelimit-reset": String(Math.ceil(Date.now() / 1000) + seconds),
      ratelimit: `"day";r=0;t=${seconds}`,
    },
  });

for (const [name, runtime] of Object.entries({ node: "node", bun: process.execPath })) {
  describe(`under ${name}, a program exits immediately`, () => {
    test("after a call that failed because the daily limit is exhausted", async () => {
      await using server = new ScriptedServer();
      server.enqueue(exhausted(80_000));
      const output = await runToExit(
        runtime,
        `await client.listInventory();
         await client.listInventory().catch((error) => console.log(error.code));`,
        server.baseUrl,
      );
      expect(output).toBe("rate_limit_exceeded\n");
      expect(server.received).toHaveLength(1);
    });

    test("after calls that were aborted while waiting for the next window", async () => {
      await using server = new ScriptedServer();
      server.enqueue(exhausted(60));
      const output = await runToExit(
        runtime,
        `await client.listInventory();
         const abort = new AbortController();
         const calls = [1, 2, 3].map(() => client.listInventory({ signal: abort.signal }));
         setTimeout(() => abort.abort("enough"));
         for (const { reason } of await Promise.allSettled(calls)) console.log(reason);`,
        server.baseUrl,
      );
      expect(output).toBe("enough\nenough\nenough\n");
      expect(server.received).toHaveLength(1);
    });

    test("after a call that was aborted during a retry delay", async () => {
      await using server = new ScriptedServer();
      server.enqueue(() => errorResponse(503, "unavailable", "Busy", { "retry-after": "60" }));
      const output = await runToExit(
        runtime,
        `const abort = new AbortController();
         const hooks = { onRetry: () => setTimeout(() => abort.abort("enough")) };
         const retrying = new PetstoreClient({ ...options, hooks });
         await retrying.listInventory({ signal: abort.signal }).catch(console.log);`,
        server.baseUrl,
      );
      expect(output).toBe("enough\n");
    });

    test("after a watch whose loop was left, and after one that was aborted", async () => {
      await using server = new ScriptedServer();
      const feeds = [new ScriptedFeed(), new ScriptedFeed()];
      server.enqueue(...feeds.map(({ handler }) => handler));
      for (const feed of feeds) feed.send(positionEvent("heartbeat", 5));
      const output = await runToExit(
        runtime,
        `for await (const { type } of client.watch()) {
           console.log(type);
           break;
         }
         const abort = new AbortController();
         const watch = client.watch({ signal: abort.signal });
         await watch.next();
         setTimeout(() => abort.abort("enough"));
         await watch.next().catch(console.log);`,
        server.baseUrl,
      );
      expect(output).toBe("start\nenough\n");
      for (const feed of feeds) await feed.waitUntilClosed();
    });

    test("after a call with an apiKey function", async () => {
      await using server = new ScriptedServer();
      const output = await runToExit(
        runtime,
        `const rotating = new PetstoreClient({ ...options, apiKey: async () => options.apiKey });
         console.log((await rotating.listInventory()).length);`,
        server.baseUrl,
      );
      expect(output).toBe("0\n");
    });

    test("after a request that timed out, and after one that was aborted", async () => {
      await using server = new ScriptedServer();
      const hang = () => new Promise<Response>(() => {});
      server.enqueue(hang, hang);
      const output = await runToExit(
        runtime,
        `const once = { attemptsMax: 1 };
         await client.listInventory({ ...once, timeoutMs: 50 }).catch((error) => console.log(error.name));
         await client.listInventory({ ...once, signal: AbortSignal.timeout(50) }).catch((error) => console.log(error.name));`,
        server.baseUrl,
      );
      expect(output).toBe("TimeoutError\nTimeoutError\n");
    });
  });

  test(`under ${name}, a call that waits for the next window keeps the program running`, async () => {
    await using server = new ScriptedServer();
    server.enqueue(exhausted(2));
    const output = await runToExit(
      runtime,
      `await client.listInventory();
       client.listInventory().then((list) => console.log(list.length));`,
      server.baseUrl,
    );
    expect(output).toBe("0\n");
    expect(server.received).toHaveLength(2);
  });
}
