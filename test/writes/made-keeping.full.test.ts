import { expect, test } from "bun:test";
import { digestOfTexts } from "../../src/domain/ledger/idempotency.ts";
import { dayMs } from "../../src/domain/values/times.ts";
import { onEngine } from "../support/conformance.ts";
import { surfaceEngine } from "../support/service.ts";
import { until } from "../support/until.ts";

onEngine(surfaceEngine, "what a request has made", (service) => {
  test("is forgotten by the service when its key has expired", async () => {
    const { made } = service().store;
    const onceOf = (name: string) => ({ key: digestOfTexts(name), request: digestOfTexts("") });
    const start = service().clock.now();
    await made.reserveMade(onceOf("old"), start);
    service().clock.advance(30 * dayMs);
    await made.reserveMade(onceOf("new"), service().clock.now());
    // Keys are old by the time of the ledger, too.
    await service().addPets({ petId: 1n });
    const isKnown = async (name: string) => !!(await made.findMade(onceOf(name).key));
    await until(async () => !(await isKnown("old")), 11_000, "the deletion of the old key");
    expect(await isKnown("new")).toBe(true);
  }, 120_000);
});
