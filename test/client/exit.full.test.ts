import { expect, test } from "bun:test";
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

/** A part of a program, and the server that its client uses. */
interface Part {
  readonly code: string;
  readonly baseUrl: string;
}

/** Runs the parts as one program until it exits; returns its output. Fails if it does not exit in time. */
async function runToExit(runtime: string, ...parts: readonly Part[]): Promise<string> {
  await using bundle = await bundleClient();
  const file = join(bundle.folder, "program.mjs");
  const blocks = parts.map(
    ({ code, baseUrl }) => `{
     const options = ${JSON.stringify({ baseUrl, apiKey })};
     const client = new PetstoreClient(options);
     ${code}
     }`,
  );
  await Bun.write(file, ['import { PetstoreClient } from "./client.mjs";', ...blocks].join("\n"));
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
  test(`under ${name}, a program exits immediately after calls that failed or were aborted during a wait`, async () => {
    await using daily = new ScriptedServer();
    daily.enqueue(exhausted(80_000));
    await using waiting = new ScriptedServer();
    waiting.enqueue(exhausted(60));
    await using busy = new ScriptedServer();
    busy.enqueue(() => errorResponse(503, "unavailable", "Busy", { "retry-after": "60" }));
    const output = await runToExit(
      runtime,
      {
        baseUrl: daily.baseUrl,
        code: `await client.listInventory();
         await client.listInventory().catch((error) => console.log(error.code));`,
      },
      {
        baseUrl: waiting.baseUrl,
        code: `await client.listInventory();
         const abort = new AbortController();
         const calls = [1, 2, 3].map(() => client.listInventory({ signal: abort.signal }));
         setTimeout(() => abort.abort("enough"));
         for (const { reason } of await Promise.allSettled(calls)) console.log(reason);`,
      },
      {
        baseUrl: busy.baseUrl,
        code: `const abort = new AbortController();
         const hooks = { onRetry: () => setTimeout(() => abort.abort("no retry")) };
         const retrying = new PetstoreClient({ ...options, hooks });
         await retrying.listInventory({ signal: abort.signal }).catch(console.log);`,
      },
    );
    expect(output).toBe("rate_limit_exceeded\nenough\nenough\nenough\nno retry\n");
    expect(daily.received).toHaveLength(1);
    expect(waiting.received).toHaveLength(1);
  });

  test(`under ${name}, a program exits immediately after watches, a key function and requests that timed out`, async () => {
    await using watched = new ScriptedServer();
    const feeds = [new ScriptedFeed(), new ScriptedFeed()];
    watched.enqueue(...feeds.map(({ handler }) => handler));
    for (const feed of feeds) feed.send(positionEvent("heartbeat", 5));
    await using listed = new ScriptedServer();
    await using silent = new ScriptedServer();
    const hang = () => new Promise<Response>(() => {});
    silent.enqueue(hang, hang);
    const output = await runToExit(
      runtime,
      {
        baseUrl: watched.baseUrl,
        code: `for await (const { type } of client.watch()) {
           console.log(type);
           break;
         }
         const abort = new AbortController();
         const watch = client.watch({ signal: abort.signal });
         await watch.next();
         setTimeout(() => abort.abort("enough"));
         await watch.next().catch(console.log);`,
      },
      {
        baseUrl: listed.baseUrl,
        code: `const rotating = new PetstoreClient({ ...options, apiKey: async () => options.apiKey });
         console.log((await rotating.listInventory()).length);`,
      },
      {
        baseUrl: silent.baseUrl,
        code: `const once = { attemptsMax: 1 };
         await client.listInventory({ ...once, timeoutMs: 50 }).catch((error) => console.log(error.name));
         await client.listInventory({ ...once, signal: AbortSignal.timeout(50) }).catch((error) => console.log(error.name));`,
      },
    );
    expect(output).toBe("start\nenough\n0\nTimeoutError\nTimeoutError\n");
    for (const feed of feeds) await feed.waitUntilClosed();
  });

  test(`under ${name}, a call that waits for the next window keeps the program running`, async () => {
    await using server = new ScriptedServer();
    server.enqueue(exhausted(1));
    const output = await runToExit(runtime, {
      baseUrl: server.baseUrl,
      code: `await client.listInventory();
       client.listInventory().then((list) => console.log(list.length));`,
    });
    expect(output).toBe("0\n");
    expect(server.received).toHaveLength(2);
  });
}
