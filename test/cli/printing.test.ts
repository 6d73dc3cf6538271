import { afterAll, beforeAll, expect, test } from "bun:test";
import { join } from "node:path";
import { printable } from "../../src/output.ts";
import { openWorkspace, petstore } from "../support/process.ts";
import { createStore } from "../support/stocking.ts";

const place = openWorkspace();
beforeAll(() => createStore(`sqlite:${place.path("data/production.db")}`));
afterAll(() => place.leave());

/** Escape sequence, bell, DEL, C1 sequence, bidirectional controls and a line separator. */
const hostile = "\x1b[2J\x07\x7f\x9b31m\u202egnp.exe\u2066\u2029.";
const escapes = "\\u001b[2J\\u0007\\u007f\\u009b31m\\u202egnp.exe\\u2066\\u2029.";
// biome-ignore lint/suspicious/noControlCharactersInRegex: the characters under test
const raw = /[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/;

test("every control character, lone surrogate and bidirectional control is escaped, nothing else", () => {
  expect(printable(hostile)).toBe(escapes);
  for (let code = 0; code <= 0xffff; code++) {
    const character = String.fromCharCode(code);
    const isLone = code >= 0xd800 && code <= 0xdfff;
    const shown = printable(character);
    if (raw.test(character) || character === "\n" || isLone) {
      expect(shown).toBe(`\\u${code.toString(16).padStart(4, "0")}`);
    } else expect(shown).toBe(character);
  }
  expect(printable("Zoë 🐕 日本 עברית")).toBe("Zoë 🐕 日本 עברית");
});

test("an error of an import escapes columns, fields and file names", async () => {
  const header = await place.runHere(["pets", "import", "-", "--format", "csv"], {
    stdin: `petId,"${hostile}"\n1,x\n`,
  });
  // Headers have spaces instead of control characters.
  const shown = "[2J 31m\\u202egnp.exe\\u2066 .";
  expect(header.err).toStartWith(`stdin:1: unknown column '${shown}'; expected petId, name, `);
  expect(header.err).toEndWith("\npetstore: 1 problem in stdin; nothing was imported\n");
  const field = await place.runHere(["pets", "import", "-"], {
    stdin: JSON.stringify({ petId: 1, name: "x", [hostile]: 1 }),
  });
  expect(field.err).toContain(`stdin:1: ${escapes} '1' is not one of`);
  const file = await place.runHere(["pets", "import", `${hostile}.csv`]);
  expect(file.err).toContain(`cannot read ${escapes}.csv`);
  for (const { err, out, code } of [header, field, file]) {
    expect(err + out).not.toMatch(raw);
    expect(code).toBe(2);
  }
});

test("arguments that a message repeats are escaped, including line breaks", async () => {
  for (const words of [[hostile], ["serve", hostile], ["keys", "show", `a\nb${hostile}`]]) {
    const { err, code } = await place.runHere(words);
    expect(err).toMatch(/^petstore: [^\n]+\n$/);
    expect(err).toContain(escapes);
    expect(err).not.toMatch(raw);
    expect(code).toBe(2);
  }
});

test("a key name with bidirectional controls is listed escaped, and is exact as JSON", async () => {
  const name = "till \u202e2 \u2066x";
  await place.runHere(["keys", "create", "--name", name, "--plan", "free"]);
  const listed = await place.runHere(["keys", "list"]);
  expect(listed.out).toContain("till \\u202e2 \\u2066x");
  expect(listed.out).not.toMatch(raw);
  const json = await place.runHere(["keys", "list", "--json"]);
  expect(json.out).not.toMatch(raw);
  expect(JSON.parse(json.out)).toMatchObject([{ name }]);
});

test("a log line is escaped and has the same value as JSON", async () => {
  const script = `import { createLog } from "${join(import.meta.dir, "../../src/log.ts")}";
    const log = createLog({ format: "json", level: "info" });
    log("bug", { error: ${JSON.stringify(hostile)}, seq: 5n,
      driver: "cannot reach postgres://me:hunter@zwei@db/shop" });
    await log.flush();`;
  const { err } = await place.run(["-e", script], { command: [process.execPath] });
  expect(err).not.toMatch(raw);
  const line = { level: "error", event: "bug", error: hostile, seq: "5" };
  expect(JSON.parse(err)).toMatchObject({ ...line, driver: "cannot reach postgres://[hidden]" });
});

test("an uncaught error is one escaped log line without a database address", async () => {
  const main = join(import.meta.dir, "../../src/main.ts");
  const script = `process.argv = ["bun", "petstore", "help"]; await import("${main}");
    setTimeout(() => { throw new Error("x\\x1b[2J postgres://me:hunter@zwei@db/shop"); });`;
  const { err, code } = await place.run(["-e", script], { command: [process.execPath] });
  expect(code).toBe(1);
  expect(err).not.toMatch(raw);
  expect(err).not.toMatch(/hunter|zwei/);
  expect(JSON.parse(err)).toMatchObject({ event: "crash" });
});

test("an export is exact in a file or pipe, and escaped on a terminal", async () => {
  const shop = openWorkspace();
  try {
    const stdin = `${JSON.stringify({ petId: 1, name: hostile })}\n`;
    await shop.runHere(["pets", "import", "-"], { stdin });
    const words = ["pets", "export", "-", "--format", "csv"];
    expect((await shop.runHere(words)).out).toContain(hostile);
    const written: Uint8Array[] = [];
    const child = Bun.spawn([petstore, ...words], {
      cwd: shop.folder,
      env: { PATH: process.env.PATH ?? "", TZ: "UTC" },
      terminal: { data: (_terminal, bytes) => void written.push(bytes.slice()) },
    });
    expect(await child.exited).toBe(0);
    const shown = Buffer.concat(written).toString();
    expect(shown).toContain(escapes);
    expect(shown.replaceAll("\r\n", "\n")).not.toMatch(raw);
  } finally {
    await shop.leave();
  }
});
