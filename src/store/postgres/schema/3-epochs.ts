/**
 * Step 3: the history of epochs. An epoch covers the ledger rows after `from_seq`, up to the start
 * of the next one. Rows are only added, in the order of `number`. The code of schema version 2 still
 * works: it neither reads nor writes this table.
 */
export const epochs = `
  CREATE TABLE epochs (
    number   int8 PRIMARY KEY,
    epoch    text NOT NULL UNIQUE,
    from_seq int8 NOT NULL CHECK (from_seq >= 0)
  );
`;
