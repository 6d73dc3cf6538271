import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { readConfig } from "../../src/config.ts";
import { commandImport } from "../../src/domain/catalogue/import-preview.ts";
import type { OrderRecord } from "../../src/domain/catalogue/orders.ts";
import { formats } from "../../src/files/formats.ts";
import { systemClock } from "../../src/opening/engines.ts";
import { openOrCreateStore } from "../../src/opening/stores.ts";
import { surfaceEngine } from "../support/service.ts";
import { openStoreWorkspace } from "../support/workspaces.ts";

const least = -(2n ** 63n);
const greatest = 2n ** 63n - 1n;

/** More than one page, with the smallest and the largest ids. */
const records: readonly OrderRecord[] = Array.from({ length: 5_003 }, (_, at) => ({
  line: at + 1,
  id: at === 0 ? least : at === 1 ? greatest : BigInt(at),
  petId: at === 0 ? greatest : BigInt(-at),
  quantity: at,
  shipDate: at % 3 === 0 ? null : Date.UTC(2026, 10, 16, 1, 2, 3, at % 1000),
  status: (["placed", "approved", "delivered"] as const)[at % 3]!,
  complete: at % 2 === 0,
}));

async function* once<T>(value: T): AsyncGenerator<T> {
  yield value;
}

for (const engine of [surfaceEngine]) {
  describe(`orders export on ${engine}`, async () => {
    const place = await openStoreWorkspace(engine);
    afterAll(() => place.leave());
    const exportTo = async (file: string) =>
      expect(await place.runHere(["orders", "export", file])).toMatchObject({ code: 0 });

    test("an empty store exports an empty file that an import reads", async () => {
      await place.withStore(async () => {});
      for (const [format, text] of [
        ["csv", "id,petId,quantity,shipDate,status,complete\n"],
        ["ndjson", ""],
        ["json", "[]\n"],
      ] as const) {
        await exportTo(`none.${format}`);
        expect(readFileSync(place.path(`none.${format}`), "utf8")).toBe(text);
      }
    });

    describe("of orders", () => {
      beforeAll(() =>
        place.withStore(async ({ catalogue }) => {
          await catalogue.importOrders(once(records), commandImport("test"));
        }),
      );

      // The formats do not depend on the engine.
      for (const format of engine === "sqlite" ? formats : (["csv"] as const)) {
        test(`what is exported as ${format} and imported elsewhere is identical`, async () => {
          await exportTo(`orders.${format}`);
          const orders = await place.withStore(async ({ catalogue }) =>
            catalogue.listOrders({ after: null, limit: 10_000 }),
          );
          expect(orders).toHaveLength(records.length);
          const database = `sqlite:${place.path(`${format}.db`)}`;
          const words = ["orders", "import", `orders.${format}`, "--database", database];
          expect(await place.runHere(words)).toMatchObject({ code: 0 });
          const copy = await openOrCreateStore(readConfig({ database }, {}), systemClock);
          expect(await copy.catalogue.listOrders({ after: null, limit: 10_000 })).toEqual(orders);
          await copy.close();
        });
      }
    });
  });
}
