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
    // A comment does not count.
    return a;

    /** Nor does this one,
     * or an empty line. */
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
  const found = [...functionsIn(text)].map(({ name, codeLines }) => `${codeLines} ${name}`);
  expect(found).toEqual(["7 one", "3 method", "4 arrow", "3 three"]);
});
