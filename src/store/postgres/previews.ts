import type { ImportPreview } from "../../domain/catalogue/import-preview.ts";
import { rejectProblems } from "../../domain/catalogue/import-problems.ts";
import { differentOrders, differentPets, takeDifferences } from "../import-differences.ts";
import { batchRows } from "../tables.ts";
import type { Session } from "./engine/session.ts";
import { checkPets, stageOrders, stagePets } from "./staging.ts";

/** Previews one import on a session of its own. Its transaction ends with the session, unfinished. */
export function createPreview(session: Session): ImportPreview {
  return {
    async previewPets(records, problems, take) {
      const staged = await stagePets(session, records, problems);
      await checkPets(session, problems);
      return takeDifferences("pets", batchesOf(session, differentPets), staged, take);
    },
    async previewOrders(records, problems, take) {
      const staged = await stageOrders(session, records, problems);
      rejectProblems(problems);
      return takeDifferences("orders", batchesOf(session, differentOrders), staged, take);
    },
  };
}

async function* batchesOf({ sql, query }: Session, text: string): AsyncGenerator<unknown[][]> {
  await sql.unsafe(`DECLARE differences NO SCROLL CURSOR FOR ${text}`);
  for (;;) {
    const rows = await query(`FETCH ${batchRows} FROM differences`);
    if (rows.length > 0) yield rows as unknown[][];
    if (rows.length < batchRows) return;
  }
}
