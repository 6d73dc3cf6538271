import { expect, test } from "bun:test";
import { hasColour } from "../../src/output.ts";

test("only a terminal gets colours, and never with NO_COLOR or TERM=dumb", () => {
  const terminal = { isTTY: true };
  expect(hasColour(terminal, { TERM: "xterm" })).toBe(true);
  expect(hasColour(terminal, { TERM: "xterm", NO_COLOR: "" })).toBe(true);
  expect(hasColour(terminal, { TERM: "xterm", NO_COLOR: "1" })).toBe(false);
  expect(hasColour(terminal, { TERM: "dumb" })).toBe(false);
  expect(hasColour({ isTTY: false }, { TERM: "xterm" })).toBe(false);
});
