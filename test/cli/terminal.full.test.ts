import { afterAll, expect, test } from "bun:test";
import { openWorkspace, petstore } from "../support/process.ts";

const place = openWorkspace();
afterAll(() => place.leave());

test("an error is red on a terminal, and plain with NO_COLOR", async () => {
  for (const [variables, name] of [
    [{}, "\x1b[31mpetstore:\x1b[0m"],
    [{ NO_COLOR: "1" }, "petstore:"],
  ] as const) {
    const written: Uint8Array[] = [];
    const child = Bun.spawn([petstore, "fly"], {
      cwd: place.folder,
      env: { PATH: process.env.PATH ?? "", TERM: "xterm", ...variables },
      terminal: { data: (_terminal, bytes) => void written.push(bytes.slice()) },
    });
    expect(await child.exited).toBe(2);
    const shown = Buffer.concat(written).toString();
    expect(shown).toBe(`${name} unknown command 'fly'; see petstore --help\r\n`);
  }
});
