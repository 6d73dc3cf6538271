import { afterAll, expect, test } from "bun:test";
import { closeSync, constants, openSync } from "node:fs";
import { openWorkspace, petstore } from "../support/process.ts";

const place = openWorkspace();
afterAll(() => place.leave());

test("a service whose standard error nobody reads serves as before, and stops within seconds", async () => {
  const pipe = place.path("stderr");
  Bun.spawnSync(["mkfifo", pipe]);
  const unread = openSync(pipe, constants.O_RDWR);
  const child = Bun.spawn([petstore, "serve", "--port", "0", "--log-requests", "all"], {
    cwd: place.folder,
    env: { PATH: process.env.PATH ?? "", HOME: place.folder },
    stdin: "ignore",
    stdout: "pipe",
    stderr: unread,
  });
  let written = "";
  const decoder = new TextDecoder();
  for await (const chunk of child.stdout) {
    written += decoder.decode(chunk, { stream: true });
    if (written.includes("is serving at")) break;
  }
  const [, baseUrl] = /is serving at (\S+)/.exec(written)!;
  // More lines than a pipe takes, which is 64 KiB.
  const ask = async () => (await fetch(`${baseUrl}/inventory`)).status;
  for (let sent = 0; sent < 500; sent++) expect([401, 429]).toContain(await ask());
  child.kill("SIGTERM");
  expect(await child.exited).toBe(0);
  closeSync(unread);
});
