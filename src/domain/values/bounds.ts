// How much one request carries or reads. The console divides what is more among several requests.

/** Changes in one batch. */
export const changesMax = 1_000;

/**
 * How many rows a page with a filter examines. No index finds rows by cause or key, so such a page
 * may have few rows or none although more follow.
 */
export const rowsExaminedMax = 10_000;

/** Pets whose names are listed at once. */
export const namedPetsMax = 200;

/** Characters of the fields of columns, for an import. The rest of the address has to fit, too. */
export const mapCharactersMax = 4_000;
