import { expect, test } from "bun:test";
import { isDoubtful } from "../../src/console/stock/quantities.ts";

test("a count is doubtful with 8 digits, with its own id, or more than 10 and more than half away", () => {
  const counts: readonly (readonly [text: string, petId: string, stock: number, boolean])[] = [
    ["12345678", "1", 12_345_678, true],
    ["00000012", "1", 12, true],
    ["1,234,567", "1", 1_234_000, false],
    ["12", "12", 14, true],
    ["12", "12", 12, false],
    ["5", "1", 38, true],
    ["0", "1", 10, false],
    ["11", "1", 0, true],
    ["10", "1", 0, false],
    ["151", "1", 100, true],
    ["150", "1", 100, false],
  ];
  for (const [text, petId, stock, expected] of counts) {
    expect({ text, petId, stock, isDoubtful: isDoubtful(text, petId, stock) }).toEqual({
      text,
      petId,
      stock,
      isDoubtful: expected,
    });
  }
});

test("a quantity without a stock to compare it with is doubtful with 8 digits, or with the id of its pet", () => {
  const texts = ["24", "5000", "+00000001", "4006381333931", "7", "007"];
  expect(texts.filter((text) => isDoubtful(text, "7"))).toEqual([
    "+00000001",
    "4006381333931",
    "7",
    "007",
  ]);
});
