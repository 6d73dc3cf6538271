import {
  type Stocktake,
  type StocktakeStore,
  stocktakeMsMax,
} from "../domain/catalogue/stocktakes.ts";
import type { Row } from "./rows.ts";
import { readAll, run, type ScriptsOf } from "./statements.ts";

/** Ids are a text, separated by commas: nobody searches for one. */
function toStocktake(row: Row): Stocktake {
  const [keyName, petIds] = row as readonly [string, string];
  return { keyName, petIds: petIds.split(",").map(BigInt) };
}

export const stocktakeReads: ScriptsOf<StocktakeStore, "listStocktakes"> = {
  listStocktakes: (keyId, now, rowsMax) =>
    readAll(
      toStocktake,
      `SELECT name, pet_ids FROM stocktakes JOIN keys ON keys.id = key_id
       WHERE key_id <> $1 AND at > $2::int8 ORDER BY at DESC, key_id LIMIT $3::int8`,
      [keyId, now - stocktakeMsMax, rowsMax],
    ),
};

export const stocktakeWrites: ScriptsOf<StocktakeStore, "setStocktake"> = {
  *setStocktake(keyId, petIds, now) {
    const oldest = now - stocktakeMsMax;
    yield* run("DELETE FROM stocktakes WHERE key_id = $1 OR at <= $2::int8", [keyId, oldest]);
    if (petIds.length === 0) return;
    const text = "INSERT INTO stocktakes (key_id, pet_ids, at) VALUES ($1, $2, $3::int8)";
    // Another page of the same person may have stored its list since.
    yield* run(`${text} ON CONFLICT (key_id) DO NOTHING`, [keyId, petIds.join(), now]);
  },
};
