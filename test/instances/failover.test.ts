import { expect, test } from "bun:test";
import { failOver } from "./failingOver.ts";

test("a primary killed under load loses no acknowledged update to its promoted standby, and the instances find it by themselves", async () => {
  const figures = await failOver(2, 200);
  expect(figures.acknowledged).toBeGreaterThan(400);
  expect(figures.recoveryMs).toBeLessThan(10_000);
}, 120_000);
