import { describe, expect, test } from "bun:test";
import { clockErrorMsMax } from "../../../src/domain/operations/maintenance.ts";
import type { StoreSuite } from "./suite.ts";

const hourMs = 3_600_000;

export function describeMaintenance(suite: StoreSuite): void {
  const maintenance = () => suite.store.maintenance;

  describe("maintenance", () => {
    test("keeps the last start, success and failure of each task, also after all were closed", async () => {
      expect(await maintenance().listMaintenance()).toEqual([]);
      expect(await maintenance().startTask("backup", 1_000, 0)).toBe(true);
      const started = { task: "backup", startedAt: 1_000 } as const;
      const nothing = { succeededAt: null, failedAt: null, result: null, error: null };
      expect(await maintenance().listMaintenance()).toEqual([{ ...started, ...nothing }]);
      await maintenance().failTask("backup", 1_100, "no space");
      await maintenance().endTask("backup", 1_200, '{"seq":1}');
      // A task that an operator runs by hand has no start of its own.
      await maintenance().endTask("drill", 1_300, "{}");
      await suite.store.close();
      suite.store = await suite.place.open();
      expect(await maintenance().listMaintenance()).toEqual([
        { ...started, succeededAt: 1_200, failedAt: 1_100, result: '{"seq":1}', error: "no space" },
        { ...nothing, task: "drill", startedAt: 0, succeededAt: 1_300, result: "{}" },
      ]);
      expect(await suite.ledger()).toEqual([]);
    });

    test("starts a task in one of several stores, and not again before it is due", async () => {
      const stores = [suite.store, await suite.place.open(), await suite.place.open()];
      const startAll = async (now: number, dueAfter: number) => {
        const starting = stores.map((store) =>
          store.maintenance.startTask("backup", now, dueAfter),
        );
        return (await Promise.all(starting)).filter((isOurs) => isOurs).length;
      };
      expect(await startAll(hourMs, 0)).toBe(1);
      expect(await startAll(2 * hourMs - 1, hourMs - 1)).toBe(0);
      expect(await startAll(2 * hourMs, hourMs)).toBe(1);
      expect(await maintenance().startTask("drill", 0, 0)).toBe(true);
    });

    if (!suite.isWhole) return;

    test("starts a task whose last start a wrong clock has put into the future", async () => {
      await maintenance().startTask("backup", hourMs + clockErrorMsMax, 0);
      expect(await maintenance().startTask("backup", hourMs, 0)).toBe(false);
      expect(await maintenance().startTask("backup", hourMs - 1, 0)).toBe(true);
      expect(await maintenance().startTask("backup", hourMs - 1, 0)).toBe(false);
    });
  });
}
