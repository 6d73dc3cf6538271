import { describe, expect, test } from "bun:test";
import { parseToml, TomlError, type TomlValue } from "../../src/config/toml.ts";

/** Entries as the parser of the runtime returns them. */
function toObject(text: string): Record<string, unknown> {
  const plain = (value: TomlValue): unknown => {
    if (value.type === "array") return value.items.map(plain);
    if (value.type === "number") return Number(value.text);
    return value.type === "boolean" ? value.text === "true" : value.text;
  };
  return Object.fromEntries(parseToml(text).map(({ key, value }) => [key, plain(value)]));
}

test("reads keys, texts, numbers, booleans and arrays as the parser of the runtime does", () => {
  const documents = [
    "",
    "# nothing\n\n",
    'port = 8080\r\nlog-level = "debug" # a comment\r\n',
    "a=1\n\tb\t=\t2\nc = -3\nd = +4\ne = 0",
    "a = 1_000\nb = 0xff\nc = 0o17\nd = 0b101\ne = 0.1\nf = 1.5e3\ng = -2E-2",
    'a = "tab\\t quote\\" slash\\\\ \\u00e9 \\U0001f436"\nb = \'C:\\x "y" # z\'\n"a key" = "ü 🐶"',
    'a = ["x", "y"]\nb = [\n  1, # one\n  2,\n]\nc = []\nd = [["x"], ["y", "z"]]\n',
    "a = true\nb = false\n1-2_x = ''",
  ];
  for (const text of documents) {
    expect(toObject(text)).toEqual(Bun.TOML.parse(text) as Record<string, unknown>);
  }
  expect(toObject("\ufeffa = 2027-12-31T00:00:00Z")).toEqual({ a: "2027-12-31T00:00:00Z" });
});

test("names the line of every entry", () => {
  const entries = parseToml('a = 1\n\n# two\nb = [\n1,\n]\nc = "x"');
  expect(entries.map(({ key, line }) => [key, line])).toEqual([
    ["a", 1],
    ["b", 4],
    ["c", 7],
  ]);
});

describe("names the line of an error and what is wrong", () => {
  const cases: [text: string, line: number, message: string][] = [
    ["a = 1\nb", 2, "expected = after 'b'"],
    ["a =\nb = 1", 1, "expected a value after ="],
    ["a = 1 b = 2", 1, "expected the end of the line"],
    ["every = 1h", 1, "'1h' is not a value; put texts in quotes"],
    ["level = debug", 1, "'debug' is not a value; put texts in quotes"],
    ["\n\n[serve]\nport = 1", 3, "sections are not supported"],
    ["a.b = 1", 1, "keys with dots are not supported"],
    ["a = {b = 1}", 1, "tables are not supported"],
    ['a = """x"""', 1, "texts of several lines are not supported"],
    ['a = 1\nb = "x\nc = 2', 2, "no closing quote"],
    ["a = 'x", 1, "no closing quote"],
    ['a = "C:\\data"', 1, "unknown escape \\d"],
    ['a = "\\ud800"', 1, "unknown escape"],
    ["a = [1, 2", 1, "expected a comma or ]"],
    ["a = [1 2]", 1, "expected a comma or ]"],
    ["a = 1\nb = 2\na = 3", 3, "'a' is already set in line 1"],
    ["a = 007", 1, "'007' is not a value"],
    ["= 1", 1, "expected a key"],
    ["a = 1\n\u0000", 2, "expected a key"],
  ];
  for (const [text, line, message] of cases) {
    test(JSON.stringify(text), () => {
      const error = (() => {
        try {
          return parseToml(text);
        } catch (thrown) {
          return thrown;
        }
      })();
      expect(error).toBeInstanceOf(TomlError);
      expect((error as TomlError).message).toContain(message);
      expect((error as TomlError).line).toBe(line);
    });
  }
});
