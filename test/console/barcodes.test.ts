import { expect, test } from "bun:test";
import { StockTable } from "../../src/console/stock/table.ts";

test("a pet is found by its barcode, also if two pets swap theirs, and before an id with the same digits", () => {
  const entry = {
    name: "Rex",
    category: null,
    quantity: 1,
    status: "available",
    version: 1,
  } as const;
  const table = new StockTable([
    { ...entry, petId: "1", barcode: "2" },
    { ...entry, petId: "2", barcode: "B" },
    { ...entry, petId: "3" },
  ]);
  const found = () => ["2", "02", "B", "3"].map((text) => table.findScanned(text));
  expect(found()).toEqual([0, 1, 1, 2]);
  table.describe(0, { category: null, name: "Rex", barcode: "B" });
  table.describe(1, { category: null, name: "Rex", barcode: "2" });
  expect(found()).toEqual([1, 1, 0, 2]);
  table.describe(0, { category: null, name: "Rex" });
  expect(found()).toEqual([1, 1, undefined, 2]);
});
