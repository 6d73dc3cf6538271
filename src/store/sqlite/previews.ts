import type { Database } from "bun:sqlite";
import type { ImportPreview } from "../../domain/catalogue/import-preview.ts";
import { rejectProblems } from "../../domain/catalogue/import-problems.ts";
import { differentOrders, differentPets, takeDifferences } from "../import-differences.ts";
import { checkPets, stageOrders, stagePets } from "./staging.ts";
import { batchesOf } from "./transfer.ts";

/** Previews one import on a connection of its own, which is closed after it. */
export function createPreview(database: Database): ImportPreview {
  const count = (table: string) =>
    Number(database.query(`SELECT count(*) FROM ${table}`).values()[0]![0]);
  return {
    async previewPets(records, problems, take) {
      await stagePets(database, records, problems);
      // All reads from here on see one state of the store.
      database.run("BEGIN");
      checkPets(database, problems);
      const rows = batchesOf(database, differentPets);
      return await takeDifferences("pets", rows, count("staged_pets"), take);
    },
    async previewOrders(records, problems, take) {
      await stageOrders(database, records, problems);
      rejectProblems(problems);
      // All reads from here on see one state of the store.
      database.run("BEGIN");
      const rows = batchesOf(database, differentOrders);
      return await takeDifferences("orders", rows, count("staged_orders"), take);
    },
  };
}
