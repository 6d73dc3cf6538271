/**
 * How long the long tests are: short in `npm test`, long in `npm run test:endurance`, which asks
 * the same questions with more rounds.
 */
const isLong = process.env.TEST_ENDURANCE === "1";

export const crashRounds = isLong ? 60 : 10;
export const importedRows = isLong ? 1_000_000 : 50_000;
export const longTestMs = isLong ? 900_000 : 60_000;
