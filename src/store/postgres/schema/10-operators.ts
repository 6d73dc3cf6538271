/**
 * Step 10: the audit log, sessions, the usage of each key over time, and where removed pets end.
 * A pet can be deleted once its entry is. Earlier code neither uses these tables nor deletes pets.
 */
export const operators = `
  CREATE TABLE audit (
    seq        int8 PRIMARY KEY,
    at         int8 NOT NULL,
    key_id     text,
    request_id text,
    action     text NOT NULL,
    target     text,
    details    text NOT NULL
  );

  -- The number and the time of the last row of audit. Not a sequence: a logical copy of the database
  -- would start at 1 again, and a role that does not own the tables would need one more right.
  CREATE TABLE audit_end (
    id  int2 PRIMARY KEY CHECK (id = 1),
    seq int8 NOT NULL,
    at  int8 NOT NULL
  ) WITH (fillfactor = 50);
  INSERT INTO audit_end VALUES (1, 0, 0);

  CREATE TRIGGER audit_rows_stay BEFORE UPDATE OR DELETE OR TRUNCATE ON audit
  FOR EACH STATEMENT EXECUTE FUNCTION petstore_refuse('audit rows are never changed or deleted');

  CREATE TABLE sessions (
    digest        text COLLATE "C" PRIMARY KEY,
    secret_digest text COLLATE "C" NOT NULL REFERENCES secrets,
    created_at    int8 NOT NULL,
    expires_at    int8 NOT NULL
  );

  -- One row for an hour or a month of a key, with the counts of its minutes or days.
  CREATE TABLE usage_history (
    key_id text COLLATE "C" NOT NULL,
    span   text COLLATE "C" NOT NULL CHECK (span IN ('hour', 'month')),
    start  int8 NOT NULL,
    counts bytea NOT NULL,
    PRIMARY KEY (key_id, span, start)
  ) WITH (fillfactor = 50);

  -- The ledger row that last removed a pet. The rows before it are found from there.
  CREATE TABLE removed_pets (
    pet_id  int8 PRIMARY KEY,
    version int8 NOT NULL
  );

  CREATE FUNCTION petstore_pets_keep_entries() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    IF EXISTS (SELECT FROM removed JOIN inventory USING (pet_id)) THEN
      RAISE EXCEPTION 'a pet stays with its entry' USING ERRCODE = 'restrict_violation';
    END IF;
    RETURN NULL;
  END $$;

  DROP TRIGGER pets_keep_entries ON pets;
  CREATE TRIGGER pets_keep_entries BEFORE UPDATE OF pet_id OR TRUNCATE ON pets
  FOR EACH STATEMENT EXECUTE FUNCTION petstore_refuse('a pet stays with its entry');
  CREATE TRIGGER removed_pets_have_no_entry AFTER DELETE ON pets REFERENCING OLD TABLE AS removed
  FOR EACH STATEMENT EXECUTE FUNCTION petstore_pets_keep_entries();
`;
