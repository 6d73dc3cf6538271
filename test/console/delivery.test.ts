import { expect, test } from "bun:test";
import { isAmount, parseAmount, parseLine } from "../../src/console/stock/delivery-lines.ts";

test("an amount is a whole number in any country, and a line is a pet and an amount", () => {
  expect(["3", "3,0", "3.00", "", "0"].map(parseAmount)).toEqual([3, 3, 3, 0, 0]);
  for (const text of ["1.000", "1,5", "-2", "007", "12345678", "x"]) {
    expect([text, parseAmount(text)]).toEqual([text, undefined]);
  }
  expect(parseLine("Rex, the dog,3")).toEqual({ code: "Rex, the dog", pieces: 3 });
  expect(parseLine('"Rex; Max";"3,0"')).toEqual({ code: "Rex; Max", pieces: 3 });
  expect(parseLine("12,3,0")).toEqual({ code: "12", pieces: 3 });
  for (const line of ["12", "12;", "12;1,000", ";3"]) expect(parseLine(line)).toBeUndefined();
});

test("after a scan, a number is the next pet only if it came at once and is a code or long", () => {
  expect(isAmount("12", true, true)).toBe(false);
  expect(isAmount("12", false, true)).toBe(true);
  expect(isAmount("12", true, false)).toBe(true);
  expect(isAmount("12345", true, false)).toBe(false);
  expect(isAmount("12345", false, false)).toBe(true);
  expect(isAmount("4006381333931", false, false)).toBe(false);
  expect(isAmount("", false, false)).toBe(false);
});
