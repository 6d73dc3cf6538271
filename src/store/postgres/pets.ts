import type { CatalogueStore } from "../../domain/catalogue/store.ts";
import { appendRow } from "../../domain/ledger/append.ts";
import { type AddRow, createPet, removePet } from "../pets.ts";
import { run, type Script } from "../statements.ts";
import { moveTip, takeHead } from "./engine/head-lock.ts";
import { insertRows, rowArrays } from "./engine/ledger-rows.ts";
import { dialect, runScript, type Transact } from "./engine/scripts.ts";
import type { Epochs } from "./epochs.ts";

const addRow = insertRows(1);

/** Creates and removes single pets. Each call is one transaction. */
export function createPets(
  transact: Transact,
  epochs: Epochs,
  now: () => number | null,
): Pick<CatalogueStore, "createPet" | "removePet"> {
  /** Locks the catalogue and the head, in the order in which an import locks them. */
  const withHead = <T>(script: (add: AddRow) => Script<T>): Promise<T> =>
    transact(async (query, session) => {
      await query(dialect.lockCatalogue);
      const { timeline, storeEpoch, ...tip } = await takeHead(session, now());
      const epoch = epochs.nameOf(storeEpoch, timeline);
      let isAdded = false;
      const result = await runScript(
        query,
        script(function* (content) {
          const { row, tip: end } = appendRow(tip, content, tip.at);
          yield* run(addRow, rowArrays([row], [end.hash]));
          yield* run(moveTip, [tip.seq, end.seq, end.at, end.hash]);
          isAdded = true;
          return { row, epoch };
        }),
      );
      if (isAdded) await epochs.record(query, timeline, tip.seq);
      return result;
    });

  return {
    createPet: (...args) => withHead((add) => createPet(add, ...args)),
    removePet: (...args) => withHead((add) => removePet(add, ...args)),
  };
}
