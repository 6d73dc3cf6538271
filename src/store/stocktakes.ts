import {
  type Stocktake,
  type StocktakeStore,
  stocktakeMsMax,
} from "../domain/catalogue/stocktakes.ts";
import type { Row } from "./rows.ts";
import { readAll, run, type ScriptsOf } from "./statements.ts";

/** Ids are a text, separated by commas: nobody searches for one. */
function toStocktake([keyId, keyName, petIds, at]: Row): Stocktake {
  return {
    keyId: keyId as string,
    keyName: keyName as string,
    petIds: (petIds as string).split(",").map(BigInt),
    at: Number(at),
  };
}

export const stocktakeReads: ScriptsOf<StocktakeStore, "listStocktakes"> = {
  listStocktakes: (since, rowsMax) =>
    readAll(
      toStocktake,
      `SELECT key_id, name, pet_ids, at FROM stocktakes JOIN keys ON keys.id = key_id
       WHERE at > $1::int8 ORDER BY at DESC, key_id LIMIT $2::int8`,
      [since, rowsMax],
    ),
};

const removeText = "DELETE FROM stocktakes WHERE key_id = $1 OR at <= $2::int8";
const addText = "INSERT INTO stocktakes (key_id, pet_ids, at) VALUES ($1, $2, $3::int8)";

export const stocktakeWrites: ScriptsOf<StocktakeStore, "setStocktake"> = {
  *setStocktake(keyId, petIds, now) {
    yield* run(removeText, [keyId, now - stocktakeMsMax]);
    if (petIds.length > 0) {
      yield* run(
        `${addText} ON CONFLICT (key_id) DO UPDATE
        SET pet_ids = excluded.pet_ids, at = excluded.at`,
        [keyId, petIds.join(), now],
      );
    }
  },
};
