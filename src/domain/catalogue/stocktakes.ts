import { dayMs } from "../values/times.ts";

/** Which pets somebody has counted and not applied yet, so that others see it. */
export interface Stocktake {
  readonly keyName: string;
  readonly petIds: readonly bigint[];
}

/** Ids of one person. More would not fit into the body of a request. */
export const countedMax = 10_000;
/** Somebody who has reported nothing for a day does not count any more. */
export const stocktakeMsMax = dayMs;

export interface StocktakeStore {
  /** Those of others than `keyId` that were reported after `since`, the latest first, at most 50. */
  listStocktakes(keyId: string, since: number): Promise<readonly Stocktake[]>;
  /** Replaces what a person has counted. */
  setStocktake(keyId: string, petIds: readonly bigint[], now: number): Promise<void>;
}
