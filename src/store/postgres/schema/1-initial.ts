/** Step 1: the schema of release 0.1.0. Released; never edit it. */
export const initial = `
    CREATE TABLE head (
      id           int2 PRIMARY KEY CHECK (id = 1),
      environment  text NOT NULL,
      epoch        text NOT NULL,
      seq          int8 NOT NULL CHECK (seq >= 0),
      at           int8 NOT NULL,
      keys_version int8 NOT NULL
    ) WITH (fillfactor = 50);

    CREATE TABLE pets (
      pet_id     int8 PRIMARY KEY,
      name       text NOT NULL,
      category   text,
      tags       text NOT NULL,
      photo_urls text NOT NULL
    );

    CREATE TABLE inventory (
      pet_id   int8 PRIMARY KEY,
      quantity int8 NOT NULL CHECK (quantity BETWEEN 0 AND 9007199254740991),
      status   text NOT NULL CHECK (status IN ('available', 'pending', 'sold')),
      version  int8 NOT NULL
    ) WITH (fillfactor = 70);

    -- As a foreign key would, but for all rows of a statement at once: a foreign key looks them
    -- up one by one, which made an import of a million pets take six seconds longer.
    CREATE FUNCTION petstore_entries_have_pets() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      IF EXISTS (SELECT FROM added LEFT JOIN pets USING (pet_id) WHERE pets.pet_id IS NULL) THEN
        RAISE EXCEPTION 'every entry belongs to a pet' USING ERRCODE = 'foreign_key_violation';
      END IF;
      RETURN NULL;
    END $$;

    CREATE TRIGGER entries_have_pets AFTER INSERT ON inventory REFERENCING NEW TABLE AS added
    FOR EACH STATEMENT EXECUTE FUNCTION petstore_entries_have_pets();

    CREATE FUNCTION petstore_refuse() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN RAISE EXCEPTION '%', TG_ARGV[0] USING ERRCODE = 'restrict_violation'; END $$;

    CREATE TRIGGER entries_keep_pets BEFORE UPDATE OF pet_id ON inventory
    FOR EACH STATEMENT EXECUTE FUNCTION petstore_refuse('an entry stays with its pet');

    CREATE TRIGGER pets_keep_entries BEFORE UPDATE OF pet_id OR DELETE OR TRUNCATE ON pets
    FOR EACH STATEMENT EXECUTE FUNCTION petstore_refuse('a pet stays with its entry');

    CREATE TABLE ledger (
      seq             int8 PRIMARY KEY,
      pet_id          int8 NOT NULL,
      quantity_before int8 CHECK (quantity_before >= 0),
      quantity_after  int8 CHECK (quantity_after >= 0),
      status_before   text CHECK (status_before IN ('available', 'pending', 'sold')),
      status_after    text CHECK (status_after IN ('available', 'pending', 'sold')),
      previous        int8 CHECK (previous < seq),
      cause           text NOT NULL,
      key_id          text,
      request_id      text,
      reason          text,
      at              int8 NOT NULL
    );

    CREATE TRIGGER ledger_rows_stay BEFORE UPDATE OR DELETE OR TRUNCATE ON ledger
    FOR EACH STATEMENT EXECUTE FUNCTION petstore_refuse('ledger rows are never changed or deleted');

    CREATE TABLE orders (
      id        int8 PRIMARY KEY,
      pet_id    int8 NOT NULL,
      quantity  int8 NOT NULL CHECK (quantity >= 0),
      ship_date int8,
      status    text NOT NULL CHECK (status IN ('placed', 'approved', 'delivered')),
      complete  int2 NOT NULL CHECK (complete IN (0, 1))
    );

    CREATE TABLE keys (
      id         text COLLATE "C" PRIMARY KEY,
      name       text NOT NULL,
      plan       text NOT NULL,
      per_minute int8 NOT NULL CHECK (per_minute > 0),
      per_day    int8 NOT NULL CHECK (per_day > 0),
      scopes     text NOT NULL,
      created_at int8 NOT NULL,
      expires_at int8,
      revoked_at int8
    );

    CREATE TABLE secrets (
      digest     text COLLATE "C" PRIMARY KEY,
      key_id     text COLLATE "C" NOT NULL REFERENCES keys,
      created_at int8 NOT NULL,
      expires_at int8
    );

    CREATE TABLE usage (
      key_id            text COLLATE "C" PRIMARY KEY REFERENCES keys,
      minute_start      int8 NOT NULL DEFAULT 0,
      minute_count      int8 NOT NULL DEFAULT 0,
      minute_refused_at int8 NOT NULL DEFAULT 0,
      day_start         int8 NOT NULL DEFAULT 0,
      day_count         int8 NOT NULL DEFAULT 0,
      day_refused_at    int8 NOT NULL DEFAULT 0,
      last_used_at      int8 NOT NULL DEFAULT 0,
      -- What the latest question asked and was granted, for the statement to give back.
      asked_at          int8 NOT NULL DEFAULT 0,
      wanted            int8 NOT NULL DEFAULT 0,
      granted           int8 NOT NULL DEFAULT 0,
      per_minute        int8 NOT NULL DEFAULT 0,
      per_day           int8 NOT NULL DEFAULT 0,
      strikes_minute    int8 NOT NULL DEFAULT 0,
      strikes           int8 NOT NULL DEFAULT 0,
      ban_started_at    int8 NOT NULL DEFAULT 0,
      banned_until      int8 NOT NULL DEFAULT 0
    ) WITH (fillfactor = 50);

    CREATE TABLE bans (
      key_id     text COLLATE "C" NOT NULL REFERENCES keys,
      started_at int8 NOT NULL,
      until      int8 NOT NULL,
      lifted_at  int8,
      PRIMARY KEY (key_id, started_at)
    );
    `;
