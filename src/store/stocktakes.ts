import type { Stocktake, StocktakeStore } from "../domain/catalogue/stocktakes.ts";
import type { Row } from "./rows.ts";
import { readAll, run, type ScriptsOf } from "./statements.ts";

/** Ids are a text, separated by commas: nobody searches for one. */
const toStocktake = ([keyName, petIds]: Row): Stocktake => ({
  keyName: keyName as string,
  petIds: (petIds as string).split(",").map(BigInt),
});

export const stocktakeReads: ScriptsOf<StocktakeStore, "listStocktakes"> = {
  listStocktakes: (keyId, since) =>
    readAll(
      toStocktake,
      `SELECT name, pet_ids FROM stocktakes JOIN keys ON keys.id = key_id
       WHERE key_id <> $1 AND at > $2::int8 AND pet_ids <> ''
       ORDER BY at DESC, key_id LIMIT 50`,
      [keyId, since],
    ),
};

export const stocktakeWrites: ScriptsOf<StocktakeStore, "setStocktake"> = {
  *setStocktake(keyId, petIds, now) {
    yield* run(
      `INSERT INTO stocktakes (key_id, pet_ids, at) VALUES ($1, $2, $3::int8)
       ON CONFLICT (key_id) DO UPDATE SET pet_ids = excluded.pet_ids, at = excluded.at`,
      [keyId, petIds.join(), now],
    );
  },
};
