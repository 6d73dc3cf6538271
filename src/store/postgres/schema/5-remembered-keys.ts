/** Step 5: idempotency keys, one row for each commit that used some. */
export const rememberedKeys = `
  CREATE TABLE remembered_keys (
    seq     int8 PRIMARY KEY,
    at      int8 NOT NULL,
    records bytea NOT NULL CHECK (length(records) > 0 AND length(records) % 40 = 0)
  );
  -- Digests cannot be compressed.
  ALTER TABLE remembered_keys ALTER COLUMN records SET STORAGE EXTERNAL;
`;
