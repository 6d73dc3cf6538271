import { expect, test } from "bun:test";
import { failOver } from "../support/instances/failover.ts";

test("a primary killed under load loses no acknowledged update to its promoted standby, and the instances find it without help", async () => {
  const figures = await failOver(2, 60, "killed", 100);
  expect(figures.wrong).toEqual([]);
  expect(figures.acknowledged).toBeGreaterThan(120);
});
