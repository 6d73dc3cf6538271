/**
 * Checkpoints: the inventory as of certain ledger rows, in packed parts. A part without its
 * checkpoint is unfinished. `checkpoint_writer` names the process that may write both.
 */
export const checkpoints = `
  CREATE TABLE checkpoints (
    seq     INTEGER PRIMARY KEY,
    entries INTEGER NOT NULL CHECK (entries >= 0)
  ) STRICT;

  CREATE TABLE checkpoint_parts (
    seq          INTEGER NOT NULL,
    first_pet_id INTEGER NOT NULL,
    data         BLOB    NOT NULL,
    PRIMARY KEY (seq, first_pet_id)
  ) STRICT;

  CREATE TABLE checkpoint_writer (
    id   INTEGER PRIMARY KEY CHECK (id = 1),
    name TEXT NOT NULL
  ) STRICT;
  INSERT INTO checkpoint_writer (id, name) VALUES (1, '');
  `;
