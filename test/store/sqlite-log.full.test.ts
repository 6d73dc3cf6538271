import { expect, test } from "bun:test";
import { statSync } from "node:fs";
import { startTestService } from "../support/service.ts";
import { setUnit } from "../support/units.ts";
import { until } from "../support/until.ts";

test("the write-ahead log is short again after a long read, however long it became", async () => {
  const service = await startTestService("sqlite");
  await using stack = new AsyncDisposableStack();
  stack.defer(() => service.stop());
  const path = service.databaseUrl.replace("sqlite:", "");
  const pets = Array.from({ length: 2_000 }, (_, at) => ({ petId: BigInt(at + 1) }));
  await service.addPets(...pets);
  const walMiB = () => statSync(`${path}-wal`).size / 2 ** 20;
  const updateAll = (quantity: number) =>
    service.store.inventory.commit(pets.map(({ petId }) => setUnit(petId, quantity)));
  await service.store.transfer.snapshot(async ({ readHead }) => {
    const before = await readHead();
    for (let round = 1; walMiB() < 32; round++) await updateAll(round);
    // The WAL checkpoint cannot finish: the reader still sees the state from before.
    expect(await readHead()).toEqual(before);
  });
  // A moment later: the service itself may be reading.
  const isShort = async () => {
    await updateAll(0);
    return walMiB() <= 16;
  };
  await until(isShort, 1_000, "the log is still long");
});
