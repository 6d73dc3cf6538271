import { expect, test } from "bun:test";
import { network } from "../../survive/network/part.ts";
import { expectSurvival } from "../support/survive.ts";

test("instances act as one inventory while the network and the database fail for moments", async () => {
  const { acknowledged } = await expectSurvival(network, 1);
  expect(acknowledged).toBeGreaterThan(0);
});
