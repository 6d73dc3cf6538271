const minuteUsed = "(CASE WHEN counts.minute_start >= minute THEN counts.minute_count ELSE 0 END)";
const dayUsed = "(CASE WHEN counts.day_start >= day THEN counts.day_count ELSE 0 END)";
const granted = `(CASE WHEN asked.banned_until > ms THEN 0
  ELSE greatest(0, least(asked.wanted, asked.per_minute - ${minuteUsed},
                         asked.per_day - ${dayUsed})) END)`;

/**
 * When the window was first exhausted, or 0 if it was not. A call that waited across the boundary is
 * older than the window it is counted in, so the window's start is the earliest time.
 */
const firstRefusal = (window: "minute" | "day", used: string) => `CASE
    WHEN counts.${window}_start >= ${window} AND counts.${window}_refused_at > 0
    THEN counts.${window}_refused_at
    WHEN ${granted} < asked.wanted AND ${used} + ${granted} >= asked.per_${window}
    THEN greatest(ms, counts.${window}_start) ELSE 0 END`;

/**
 * Step 2: searches that read few row versions. Released; never edit the SQL.
 *
 * While any transaction is open, PostgreSQL keeps every version of a row that was updated since that
 * transaction began, and an index search for the row's key visits all of them. A forgotten
 * transaction made the service slower with every second. The key of a row that is updated often
 * therefore has a second column, its generation, which grows after some updates. A search for the
 * highest generation starts at the newest version and visits few others.
 */
export const boundedRows = `
  ALTER TABLE head RENAME TO store;

  -- Where the ledger ends: its highest row, whose key grows with every commit. The rows below zero
  -- stay, so that the planner never takes the table for one that is quicker read whole than by its
  -- index: it would read all the versions that could not be removed yet.
  CREATE TABLE ledger_end (
    seq int8 PRIMARY KEY,
    at  int8 NOT NULL
  );
  INSERT INTO ledger_end SELECT -n, 0 FROM generate_series(1, 1000) AS n;
  INSERT INTO ledger_end SELECT seq, at FROM store;
  ALTER TABLE store DROP COLUMN seq, DROP COLUMN at;

  ALTER TABLE inventory ADD COLUMN generation int8 NOT NULL DEFAULT 0,
    ADD COLUMN changes int8 NOT NULL DEFAULT 0;
  ALTER TABLE inventory DROP CONSTRAINT inventory_pkey, ADD PRIMARY KEY (pet_id, generation);
  CREATE OR REPLACE FUNCTION petstore_entries_have_pets() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    IF EXISTS (SELECT FROM added LEFT JOIN pets USING (pet_id) WHERE pets.pet_id IS NULL) THEN
      RAISE EXCEPTION 'every entry belongs to a pet' USING ERRCODE = 'foreign_key_violation';
    END IF;
    IF (SELECT count(*) FROM added) < (SELECT count(*) FROM added JOIN inventory USING (pet_id)) THEN
      RAISE EXCEPTION 'a pet has one entry' USING ERRCODE = 'unique_violation';
    END IF;
    RETURN NULL;
  END $$;

  -- The stock of one pet. A function, because a statement by itself cannot keep the planner from
  -- reading all versions by a bitmap.
  CREATE FUNCTION petstore_stock(asked int8) RETURNS TABLE (quantity int8, status text)
  LANGUAGE plpgsql STABLE ROWS 1 SET enable_seqscan = off SET enable_bitmapscan = off AS $$
  BEGIN
    RETURN QUERY SELECT inventory.quantity, inventory.status FROM inventory
    WHERE pet_id = asked ORDER BY generation DESC LIMIT 1;
  END $$;

  -- What keys have used.
  CREATE TABLE counts (
    key_id            text COLLATE "C" NOT NULL REFERENCES keys,
    generation        int8 NOT NULL DEFAULT 0,
    changes           int8 NOT NULL DEFAULT 0,
    minute_start      int8 NOT NULL DEFAULT 0,
    minute_count      int8 NOT NULL DEFAULT 0,
    minute_refused_at int8 NOT NULL DEFAULT 0,
    day_start         int8 NOT NULL DEFAULT 0,
    day_count         int8 NOT NULL DEFAULT 0,
    day_refused_at    int8 NOT NULL DEFAULT 0,
    last_used_at      int8 NOT NULL DEFAULT 0,
    -- What the latest question was granted, for the statement to give back.
    granted           int8 NOT NULL DEFAULT 0,
    PRIMARY KEY (key_id, generation)
  ) WITH (fillfactor = 50);
  INSERT INTO counts (key_id, minute_start, minute_count, minute_refused_at, day_start, day_count,
                      day_refused_at, last_used_at)
  SELECT key_id, minute_start, minute_count, minute_refused_at, day_start, day_count,
         day_refused_at, last_used_at FROM usage;

  -- Strikes and the ban in force. Both change seldom.
  CREATE TABLE standings (
    key_id         text COLLATE "C" PRIMARY KEY REFERENCES keys,
    strikes_minute int8 NOT NULL DEFAULT 0,
    strikes        int8 NOT NULL DEFAULT 0,
    ban_started_at int8 NOT NULL DEFAULT 0,
    banned_until   int8 NOT NULL DEFAULT 0
  ) WITH (fillfactor = 50);
  INSERT INTO standings (key_id, strikes_minute, strikes, ban_started_at, banned_until)
  SELECT key_id, strikes_minute, strikes, ban_started_at, banned_until FROM usage;

  -- Takes requests from keys: as many as are wanted, or as many as are left. A window ahead of the
  -- clock stays: none ever reopens. The commit does not wait for the disk. A key that is used for
  -- the first time gets its row and no answer, and a key whose generation grew at the same moment
  -- gets no answer: ask again.
  --
  -- Rows are locked in the order of their keys, so that two calls cannot deadlock. The one plan is
  -- a loop over the sorted keys that looks each up by the index: sequential and bitmap scans are
  -- off, and the conditions are written as = ANY, by which the planner can neither hash nor merge.
  -- Once it knows that the table has few rows it would otherwise read all of it, with every version
  -- kept.
  CREATE FUNCTION petstore_take(
    moment int8, asked_keys text[], asked_wanted int8[], asked_per_minute int8[],
    asked_per_day int8[])
  RETURNS TABLE (
    taken_key text, taken_minute_start int8, taken_minute_count int8, taken_minute_refused_at int8,
    taken_day_start int8, taken_day_count int8, taken_day_refused_at int8, taken_last_used_at int8,
    taken_strikes_minute int8, taken_strikes int8, taken_ban_started_at int8,
    taken_banned_until int8, taken_at int8, taken_granted int8)
  LANGUAGE plpgsql SET enable_seqscan = off SET enable_bitmapscan = off
  SET plan_cache_mode = force_generic_plan AS $$
  DECLARE
    ms int8 := coalesce(moment, floor(extract(epoch FROM clock_timestamp()) * 1000)::int8);
    minute int8 := ms - ms % 60000;
    day int8 := ms - ms % 86400000;
    answers int8;
  BEGIN
    PERFORM set_config('synchronous_commit', 'off', true);
    RETURN QUERY
    UPDATE counts SET changes = changes + 1, generation = (changes + 1) / 64,
      granted = ${granted},
      minute_start = greatest(counts.minute_start, minute),
      minute_count = ${minuteUsed} + ${granted},
      minute_refused_at = ${firstRefusal("minute", minuteUsed)},
      day_start = greatest(counts.day_start, day),
      day_count = ${dayUsed} + ${granted},
      day_refused_at = ${firstRefusal("day", dayUsed)},
      last_used_at = CASE WHEN ${granted} > 0 THEN greatest(counts.last_used_at, ms)
                          ELSE counts.last_used_at END
    FROM (SELECT one.*, coalesce(strikes_minute, 0) AS strikes_minute,
                 coalesce(strikes, 0) AS strikes, coalesce(ban_started_at, 0) AS ban_started_at,
                 coalesce(banned_until, 0) AS banned_until,
                 (SELECT newest.generation FROM counts AS newest WHERE newest.key_id = one.key
                  ORDER BY newest.generation DESC LIMIT 1) AS generation
          FROM unnest(asked_keys, asked_wanted, asked_per_minute, asked_per_day)
              AS one(key, wanted, per_minute, per_day)
            LEFT JOIN standings ON standings.key_id = one.key
          ORDER BY key) AS asked
    WHERE counts.key_id = ANY (ARRAY[asked.key])
      AND counts.generation = ANY (ARRAY[asked.generation])
    RETURNING counts.key_id, counts.minute_start, counts.minute_count, counts.minute_refused_at,
      counts.day_start, counts.day_count, counts.day_refused_at, counts.last_used_at,
      asked.strikes_minute, asked.strikes, asked.ban_started_at, asked.banned_until, ms,
      counts.granted;
    GET DIAGNOSTICS answers = ROW_COUNT;
    IF answers < cardinality(asked_keys) THEN
      INSERT INTO counts (key_id)
      SELECT key FROM unnest(asked_keys) AS asked(key)
      WHERE NOT EXISTS (SELECT FROM counts WHERE key_id = key)
      ORDER BY key ON CONFLICT DO NOTHING;
    END IF;
  END $$;

  -- 0.1.0 would show an old head and count apart. The names it knows are left for it to run into:
  -- it answers 503 to this code. The next release may drop them.
  CREATE FUNCTION petstore_refuse_0_1() RETURNS int8 LANGUAGE plpgsql AS $$
  BEGIN
    RAISE EXCEPTION 'this store needs petstore 0.2 or later' USING ERRCODE = 'lock_not_available';
  END $$;
  CREATE VIEW head AS
  SELECT id, environment, epoch, petstore_refuse_0_1() AS seq, petstore_refuse_0_1() AS at,
         keys_version FROM store;

  TRUNCATE usage;
  CREATE FUNCTION petstore_refuse_0_1_counts() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN PERFORM petstore_refuse_0_1(); RETURN NULL; END $$;
  CREATE TRIGGER refuse_0_1 BEFORE INSERT OR UPDATE ON usage
  FOR EACH STATEMENT EXECUTE FUNCTION petstore_refuse_0_1_counts();
`;
