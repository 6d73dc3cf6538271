import type { ImportPreview } from "../../domain/catalogue/import-preview.ts";
import { rejectProblems } from "../../domain/catalogue/import-problems.ts";
import { differentOrders, differentPets, takeDifferences } from "../import-differences.ts";
import { readBatches } from "./engine/batches.ts";
import type { Session } from "./engine/session.ts";
import { checkPets, stageOrders, stagePets } from "./staging.ts";

/** Previews one import on a session of its own. Its transaction ends with the session, unfinished. */
export function createPreview(session: Session): ImportPreview {
  return {
    async previewPets(records, problems, take) {
      const staged = await stagePets(session, records, problems);
      await checkPets(session, problems);
      return takeDifferences(
        "pets",
        readBatches(session, "differences", differentPets),
        staged,
        take,
      );
    },
    async previewOrders(records, problems, take) {
      const staged = await stageOrders(session, records, problems);
      rejectProblems(problems);
      return takeDifferences(
        "orders",
        readBatches(session, "differences", differentOrders),
        staged,
        take,
      );
    },
  };
}
