/**
 * The history of epochs. A store of an earlier version knows only its current epoch, so every row
 * counts as part of it.
 */
export const epochs = `
  CREATE TABLE epochs (
    number   INTEGER PRIMARY KEY,
    epoch    TEXT    NOT NULL UNIQUE,
    from_seq INTEGER NOT NULL CHECK (from_seq >= 0)
  ) STRICT;
  INSERT INTO epochs (epoch, from_seq) SELECT epoch, 0 FROM head;
  `;
