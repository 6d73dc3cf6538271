import { afterAll, expect, test } from "bun:test";
import { hasColour } from "../../src/output.ts";
import { openWorkspace, petstore } from "../support/process.ts";

const place = openWorkspace();
afterAll(() => place.leave());

test("only a terminal gets colours, and never with NO_COLOR or TERM=dumb", () => {
  const terminal = { isTTY: true };
  expect(hasColour(terminal, { TERM: "xterm" })).toBe(true);
  expect(hasColour(terminal, { TERM: "xterm", NO_COLOR: "" })).toBe(true);
  expect(hasColour(terminal, { TERM: "xterm", NO_COLOR: "1" })).toBe(false);
  expect(hasColour(terminal, { TERM: "dumb" })).toBe(false);
  expect(hasColour({ isTTY: false }, { TERM: "xterm" })).toBe(false);
});

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
