import { expect, test } from "bun:test";
import { type Column, tableLines } from "../../src/cli/table.ts";
import { once } from "../../src/domain/values/once.ts";

interface Row {
  readonly count: number;
  readonly name: string;
  readonly text: string;
}

const columns: readonly Column<Row>[] = [
  { title: "count", align: "right", cell: ({ count }) => String(count) },
  { title: "name", align: "left", cell: ({ name }) => name },
  { title: "text", align: "left", cell: ({ text }) => text },
];

async function tableOf(pages: readonly (readonly Row[])[], width?: number): Promise<string> {
  let table = "";
  const source = (async function* () {
    yield* pages;
  })();
  for await (const lines of tableLines(source, columns, () => width)) table += lines;
  return table;
}

const row = (count: number, name: string, text: string): Row => ({ count, name, text });

test("a table without rows has its titles", async () => {
  expect(await tableOf([])).toBe("count  name  text\n");
  expect(await tableOf([[]])).toBe("count  name  text\n");
});

test("numbers are right-aligned, and no line ends with a space", async () => {
  expect(await tableOf([[row(5, "a", ""), row(1234567, "long name", "x")]])).toBe(
    `  count  name       text
      5  a
1234567  long name  x
`,
  );
});

test("columns become wider from page to page", async () => {
  expect(await tableOf([[row(1, "a", "x")], [row(1234567, "b", "y")], [row(2, "c", "z")]])).toBe(
    `count  name  text
    1  a     x
1234567  b     y
      2  c     z
`,
  );
});

test("wide and combined characters are aligned by the cells that they take", async () => {
  expect(await tableOf([[row(1, "日本", "x"), row(2, "e\u0301🐕", "y")]])).toBe(
    `count  name  text
    1  日本  x
    2  e\u0301🐕   y
`,
  );
});

test("a column that is never cut gets a line of its own where it does not fit", async () => {
  const whole = columns.map((column) => ({ ...column, isWhole: column.title === "text" }));
  const rows = [row(1, "a", "it fits"), row(2, "b", "it does not fit")];
  for (const [width, line] of [
    [20, "    2  b\n    it does not fit\n"],
    [undefined, "    2  b     it does not fit\n"],
  ] as const) {
    const pages = tableLines(once(rows), whole, () => width);
    const lines = (await Array.fromAsync(pages)).join("");
    expect(lines).toBe(`count  name  text\n    1  a     it fits\n${line}`);
  }
});

test("a terminal gets the last column cut to its width, at a whole character", async () => {
  const text = "👩‍👩‍👧 counted by hand";
  expect(await tableOf([[row(1, "a", text)]], 23)).toBe(
    "count  name  text\n    1  a     👩‍👩‍👧 counte…\n",
  );
  for (const width of [24, 25]) {
    expect(await tableOf([[row(1, "a", "日本語日本語日")]], width)).toBe(
      "count  name  text\n    1  a     日本語日本…\n",
    );
  }
  expect(await tableOf([[row(1, "a", text)]], 31)).toBe(
    `count  name  text\n    1  a     ${text}\n`,
  );
  // Not less than ten cells, also if the other columns fill the width.
  expect(await tableOf([[row(1, "a", text)]], 5)).toContain("👩‍👩‍👧 counte…\n");
  expect(await tableOf([[row(1, "a", text)]])).toContain(text);
});

test("control characters are escaped before widths are computed", async () => {
  expect(await tableOf([[row(1, "\x1b[2J\n", "x")]])).toBe(
    `count  name             text
    1  \\u001b[2J\\u000a  x
`,
  );
});
