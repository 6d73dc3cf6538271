import { afterAll, expect, test } from "bun:test";
import { openWorkspace } from "../support/process.ts";
import { readRows, restore } from "../support/release-stores.ts";
import { engines } from "../support/service.ts";
import { verifyStore } from "../support/stocking.ts";

const place = openWorkspace();
afterAll(() => place.leave());

const hour = Date.UTC(2026, 10, 16, 8);
const month = Date.UTC(2026, 10, 1);

/** Rows of `usage_history`, as 0.9.0 packs them. */
const packed = [
  // 300 admitted and 2 refused in minute 2, 0 and 5 in minute 59.
  ["hour", hour, "02ac0202380005"],
  // The largest number that is exact, on the first day, and 1 on the last.
  ["month", month, "00ffffffffffffff0f001c0100"],
  // Nothing; a cut number; minute 60; a number that no integer holds.
  ["hour", hour + 3_600_000, ""],
  ["hour", hour + 7_200_000, "000102000180"],
  ["hour", hour + 10_800_000, "3c0101"],
  ["hour", hour + 14_400_000, "00ffffffffffffffffffff7f01"],
] as const;

test.each([...engines])(
  "the counts that 0.9.0 packed are one row per minute or day after the migration on %s",
  async (engine) => {
    const database = await restore[engine]("0.9.0", place);
    const bytes = (hex: string) => (engine === "sqlite" ? `x'${hex}'` : `'\\x${hex}'`);
    const values = packed.map(([span, start, hex]) => `('*', '${span}', ${start}, ${bytes(hex)})`);
    await readRows(database, "DELETE FROM usage_history");
    await readRows(database, `INSERT INTO usage_history VALUES ${values.join()}`);
    expect(await verifyStore(database)).toMatchObject({ rows: 12, faultCount: 0 });
    const points = await readRows(database, "SELECT * FROM usage_points ORDER BY step, start");
    expect(points).toEqual([
      ["*", "day", BigInt(month), BigInt(Number.MAX_SAFE_INTEGER), 0n],
      ["*", "day", BigInt(month + 29 * 86_400_000), 1n, 0n],
      ["*", "minute", BigInt(hour + 2 * 60_000), 300n, 2n],
      ["*", "minute", BigInt(hour + 59 * 60_000), 0n, 5n],
      ["*", "minute", BigInt(hour + 7_200_000), 1n, 2n],
    ]);
  },
);
