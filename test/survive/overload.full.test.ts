import { expect, test } from "bun:test";
import { overload } from "../../survive/overload/part.ts";
import { expectSurvival } from "../support/survive.ts";

test("good clients are served while others attack, and memory and descriptors return", async () => {
  const { acknowledged } = await expectSurvival(overload, 1);
  expect(acknowledged).toBeGreaterThan(0);
});
