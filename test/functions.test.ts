import { expect, test } from "bun:test";
import { functionsIn } from "./support/functions.ts";

test("the search for functions sees functions, methods and arrow functions, and nothing else", () => {
  const text = `export async function one(
  a: number,
): Promise<void> {
  if (a > 0) {
    return;
  }
}
const two = {
  method({ a }: B): C {
    return a;
  },
  arrow: (a) => {
    for (;;) {
    }
  },
};
const three = (a: number) =>
  a +
  1;
`;
  const found = [...functionsIn(text)].map(({ name, lines }) => `${lines} ${name}`);
  expect(found).toEqual(["7 one", "3 method", "4 arrow", "3 three"]);
});
