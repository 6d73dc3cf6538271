/** Step 4: idempotency keys, one row for each commit that used some. */
export const rememberedKeys = `
  CREATE TABLE remembered_keys (
    seq     INTEGER PRIMARY KEY,
    at      INTEGER NOT NULL,
    records BLOB    NOT NULL CHECK (length(records) > 0 AND length(records) % 40 = 0)
  ) STRICT;
  `;
