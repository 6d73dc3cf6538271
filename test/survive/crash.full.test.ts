import { expect, test } from "bun:test";
import { crash } from "../../survive/crash/part.ts";
import { expectSurvival } from "../support/survive.ts";

test("a store survives kills of its service under load, and of commands", async () => {
  const { acknowledged } = await expectSurvival(crash, 1);
  expect(acknowledged).toBeGreaterThan(0);
});
