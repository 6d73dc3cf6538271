/**
 * Step 7: checkpoints, the inventory as of certain ledger rows, in packed parts. A part without its
 * checkpoint is unfinished. `checkpoint_writer` names the instance that may write both, and until
 * when. Earlier code neither reads nor writes these tables.
 */
export const checkpoints = `
  CREATE TABLE checkpoints (
    seq     int8 PRIMARY KEY,
    entries int8 NOT NULL CHECK (entries >= 0)
  );

  CREATE TABLE checkpoint_parts (
    seq          int8 NOT NULL,
    first_pet_id int8 NOT NULL,
    data         bytea NOT NULL,
    PRIMARY KEY (seq, first_pet_id)
  );
  -- Parts are compressed already.
  ALTER TABLE checkpoint_parts ALTER COLUMN data SET STORAGE EXTERNAL;

  CREATE TABLE checkpoint_writer (
    id    int2 PRIMARY KEY CHECK (id = 1),
    name  text NOT NULL,
    until int8 NOT NULL
  );
  INSERT INTO checkpoint_writer (id, name, until) VALUES (1, '', 0);
`;
