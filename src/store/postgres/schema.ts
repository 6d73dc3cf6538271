import { genesisHash } from "../../domain/ledger/chain.ts";
import { isQuantity, isTime, timeMax } from "../schema.ts";

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
 * Every table and function of a PostgreSQL store. Its number is `schemaNumber`, which a change here
 * raises.
 *
 * While any transaction is open, PostgreSQL keeps every version of a row that was updated since that
 * transaction began, and an index search for the row's key visits all of them. A forgotten
 * transaction would make the service slower with every second. The key of a row that is updated often
 * therefore has a second column, its generation, which grows after some updates. A search for the
 * highest generation starts at the newest version and visits few others.
 *
 * Reads by the primary key are functions. A statement by itself cannot keep the planner from reading a
 * whole table, or all versions of a row by a bitmap. A prepared plan that was made while the ledger was
 * small would read all of it for every row once it is large.
 */
export const schema = `
  CREATE TABLE store (
    id           int2 PRIMARY KEY CHECK (id = 1),
    environment  text NOT NULL CHECK (environment IN ('production', 'staging')),
    epoch        text NOT NULL CHECK (epoch <> ''),
    keys_version int8 NOT NULL CHECK (keys_version >= 0)
  ) WITH (fillfactor = 50);

  -- Where the ledger ends: its highest row, whose key grows with every commit. The rows below zero
  -- stay, so that the planner never takes the table for one that is quicker read whole than by its
  -- index: it would read all the versions that could not be removed yet.
  CREATE TABLE ledger_end (
    seq  int8 PRIMARY KEY,
    at   int8 NOT NULL,
    hash text NOT NULL DEFAULT ''
  );
  INSERT INTO ledger_end SELECT -n, 0 FROM generate_series(1, 1000) AS n;
  INSERT INTO ledger_end VALUES (0, 0, '${genesisHash}');

  -- The history of epochs. An epoch covers the ledger rows after from_seq, up to the start of the next
  -- one. Rows are only added, in the order of their numbers.
  CREATE TABLE epochs (
    number   int8 PRIMARY KEY,
    epoch    text NOT NULL UNIQUE CHECK (epoch <> ''),
    from_seq int8 NOT NULL CHECK (from_seq >= 0)
  );

  CREATE TABLE pets (
    pet_id       int8 PRIMARY KEY,
    name         text NOT NULL CHECK (name <> ''),
    category     text,
    tags         text NOT NULL CHECK (tags LIKE '[%]'),
    photo_urls   text NOT NULL CHECK (photo_urls LIKE '[%]'),
    barcode      text,
    low_stock_at int8 CHECK (low_stock_at ${isQuantity})
  );

  -- Pets without a barcode or a threshold need no place in these.
  CREATE UNIQUE INDEX pets_by_barcode ON pets (barcode) WHERE barcode IS NOT NULL;
  CREATE INDEX pets_with_threshold ON pets (pet_id, low_stock_at) WHERE low_stock_at IS NOT NULL;

  -- The ledger row that last removed a pet. The rows before it are found from there.
  CREATE TABLE removed_pets (
    pet_id  int8 PRIMARY KEY,
    version int8 NOT NULL CHECK (version > 0)
  );

  CREATE TABLE inventory (
    pet_id     int8 NOT NULL,
    quantity   int8 NOT NULL CHECK (quantity ${isQuantity}),
    status     text NOT NULL CHECK (status IN ('available', 'pending', 'sold')),
    version    int8 NOT NULL,
    generation int8 NOT NULL DEFAULT 0,
    changes    int8 NOT NULL DEFAULT 0,
    PRIMARY KEY (pet_id, generation)
  ) WITH (fillfactor = 70);

  CREATE FUNCTION petstore_refuse() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN RAISE EXCEPTION '%', TG_ARGV[0] USING ERRCODE = 'restrict_violation'; END $$;

  -- As a foreign key would, but for all rows of a statement at once: a foreign key looks them
  -- up one by one, which made an import of a million pets take six seconds longer.
  CREATE FUNCTION petstore_entries_have_pets() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    IF EXISTS (SELECT FROM added LEFT JOIN pets USING (pet_id) WHERE pets.pet_id IS NULL) THEN
      RAISE EXCEPTION 'every entry belongs to a pet' USING ERRCODE = 'foreign_key_violation';
    END IF;
    IF (SELECT count(*) FROM added) < (SELECT count(*) FROM added JOIN inventory USING (pet_id)) THEN
      RAISE EXCEPTION 'a pet has one entry' USING ERRCODE = 'unique_violation';
    END IF;
    RETURN NULL;
  END $$;

  CREATE FUNCTION petstore_pets_keep_entries() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    IF EXISTS (SELECT FROM removed JOIN inventory USING (pet_id)) THEN
      RAISE EXCEPTION 'a pet stays with its entry' USING ERRCODE = 'restrict_violation';
    END IF;
    RETURN NULL;
  END $$;

  CREATE TRIGGER entries_have_pets AFTER INSERT ON inventory REFERENCING NEW TABLE AS added
  FOR EACH STATEMENT EXECUTE FUNCTION petstore_entries_have_pets();
  CREATE TRIGGER entries_keep_pets BEFORE UPDATE OF pet_id ON inventory
  FOR EACH STATEMENT EXECUTE FUNCTION petstore_refuse('an entry stays with its pet');
  CREATE TRIGGER pets_keep_entries BEFORE UPDATE OF pet_id OR TRUNCATE ON pets
  FOR EACH STATEMENT EXECUTE FUNCTION petstore_refuse('a pet stays with its entry');
  CREATE TRIGGER removed_pets_have_no_entry AFTER DELETE ON pets REFERENCING OLD TABLE AS removed
  FOR EACH STATEMENT EXECUTE FUNCTION petstore_pets_keep_entries();

  -- One check constraint, and none of the statuses, which are those of entries: the server parses every
  -- constraint again for each statement that writes the table, which took a tenth of the time of a group
  -- of 16 updates.
  CREATE TABLE ledger (
    seq             int8 PRIMARY KEY,
    pet_id          int8 NOT NULL,
    quantity_before int8,
    quantity_after  int8,
    status_before   text,
    status_after    text,
    previous        int8,
    cause           text NOT NULL,
    key_id          text,
    request_id      text,
    reason          text,
    at              int8 NOT NULL,
    hash            bytea NOT NULL,
    CONSTRAINT ledger_numbers CHECK (
      quantity_before >= 0 AND quantity_after >= 0 AND previous < seq AND length(hash) = 32)
  );

  CREATE TRIGGER ledger_rows_stay BEFORE DELETE OR UPDATE OR TRUNCATE ON ledger
  FOR EACH STATEMENT EXECUTE FUNCTION petstore_refuse('ledger rows are never changed or deleted');

  -- Idempotency keys, one row for each commit that used some.
  CREATE TABLE remembered_keys (
    seq     int8 PRIMARY KEY,
    at      int8 NOT NULL,
    records bytea NOT NULL CHECK (length(records) > 0 AND length(records) % 40 = 0)
  );
  -- Digests cannot be compressed.
  ALTER TABLE remembered_keys ALTER COLUMN records SET STORAGE EXTERNAL;

  -- The inventory as of certain ledger rows, in packed parts. A part without its checkpoint is
  -- unfinished. checkpoint_writer names the instance that may write both, and until when.
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

  CREATE TABLE orders (
    id        int8 PRIMARY KEY,
    pet_id    int8 NOT NULL,
    quantity  int8 NOT NULL CHECK (quantity ${isQuantity}),
    ship_date int8 CHECK (ship_date BETWEEN -${timeMax} AND ${timeMax}),
    status    text NOT NULL CHECK (status IN ('placed', 'approved', 'delivered')),
    complete  int2 NOT NULL CHECK (complete IN (0, 1))
  );

  -- Units sold, for each pet and UTC day of about the last 28 days, and the last ledger row that they
  -- include. The index finds old days of all pets, which are removed together.
  CREATE TABLE sales (pet_id int8, day int8, units int8 NOT NULL, PRIMARY KEY (pet_id, day))
    WITH (fillfactor = 80);
  CREATE INDEX sales_by_day ON sales (day);
  CREATE TABLE sales_end (seq int8 NOT NULL) WITH (fillfactor = 50);
  INSERT INTO sales_end VALUES (0);

  CREATE TABLE keys (
    id         text COLLATE "C" PRIMARY KEY,
    name       text NOT NULL CHECK (name <> ''),
    plan       text NOT NULL,
    per_minute int8 NOT NULL CHECK (per_minute > 0),
    per_day    int8 NOT NULL CHECK (per_day > 0),
    scopes     text NOT NULL,
    created_at int8 NOT NULL CHECK (created_at ${isTime}),
    expires_at int8 CHECK (expires_at ${isTime}),
    revoked_at int8 CHECK (revoked_at ${isTime})
  );

  CREATE TABLE secrets (
    digest     text COLLATE "C" PRIMARY KEY CHECK (length(digest) = 64),
    key_id     text COLLATE "C" NOT NULL REFERENCES keys,
    created_at int8 NOT NULL CHECK (created_at ${isTime}),
    expires_at int8 CHECK (expires_at ${isTime})
  );

  CREATE TABLE sessions (
    digest        text COLLATE "C" PRIMARY KEY,
    secret_digest text COLLATE "C" NOT NULL REFERENCES secrets,
    created_at    int8 NOT NULL,
    expires_at    int8 NOT NULL
  );

  -- What keys have used.
  CREATE TABLE counts (
    key_id            text COLLATE "C" NOT NULL REFERENCES keys,
    generation        int8 NOT NULL DEFAULT 0,
    changes           int8 NOT NULL DEFAULT 0,
    minute_start      int8 NOT NULL DEFAULT 0,
    minute_count      int8 NOT NULL DEFAULT 0 CHECK (minute_count >= 0),
    minute_refused_at int8 NOT NULL DEFAULT 0,
    day_start         int8 NOT NULL DEFAULT 0,
    day_count         int8 NOT NULL DEFAULT 0 CHECK (day_count >= 0),
    day_refused_at    int8 NOT NULL DEFAULT 0,
    last_used_at      int8 NOT NULL DEFAULT 0,
    -- What the latest question was granted, for the statement to give back.
    granted           int8 NOT NULL DEFAULT 0,
    PRIMARY KEY (key_id, generation)
  ) WITH (fillfactor = 50);

  -- Strikes and the ban in force. Both change seldom.
  CREATE TABLE standings (
    key_id         text COLLATE "C" PRIMARY KEY REFERENCES keys,
    strikes_minute int8 NOT NULL DEFAULT 0,
    strikes        int8 NOT NULL DEFAULT 0,
    ban_started_at int8 NOT NULL DEFAULT 0,
    banned_until   int8 NOT NULL DEFAULT 0
  ) WITH (fillfactor = 50);

  CREATE TABLE bans (
    key_id     text COLLATE "C" NOT NULL REFERENCES keys,
    started_at int8 NOT NULL CHECK (started_at ${isTime}),
    until      int8 NOT NULL CHECK (until ${isTime}),
    lifted_at  int8 CHECK (lifted_at ${isTime}),
    PRIMARY KEY (key_id, started_at)
  );

  -- The usage of each key over time. Old counts of all keys are removed together.
  CREATE TABLE usage_points (
    key_id   text COLLATE "C" NOT NULL,
    step     text COLLATE "C" NOT NULL CHECK (step IN ('minute', 'day')),
    start    int8 NOT NULL,
    admitted int8 NOT NULL CHECK (admitted >= 0),
    refused  int8 NOT NULL CHECK (refused >= 0),
    PRIMARY KEY (key_id, step, start)
  ) WITH (fillfactor = 80);
  CREATE INDEX usage_points_by_start ON usage_points (step, start);

  -- Requests that got an error. requests_end numbers them: its row is locked until a transaction ends,
  -- so that numbers become visible in their order.
  CREATE TABLE requests (
    seq        int8 PRIMARY KEY,
    request_id text COLLATE "C" NOT NULL UNIQUE,
    key_id     text COLLATE "C" NOT NULL,
    code       text COLLATE "C" NOT NULL,
    after_seq  int8 NOT NULL,
    error      text NOT NULL
  );
  CREATE INDEX requests_by_key ON requests (key_id, code, seq);
  CREATE TABLE requests_end (seq int8 NOT NULL) WITH (fillfactor = 50);
  INSERT INTO requests_end VALUES (0);

  CREATE TABLE audit (
    seq        int8 PRIMARY KEY,
    at         int8 NOT NULL CHECK (at ${isTime}),
    key_id     text,
    request_id text,
    action     text NOT NULL CHECK (action <> ''),
    target     text,
    details    text NOT NULL CHECK (details LIKE '{%}')
  );

  -- The number and the time of the last row of audit. Not a sequence: a logical copy of the database
  -- would start at 1 again, and a role that does not own the tables would need one more right.
  CREATE TABLE audit_end (
    id  int2 PRIMARY KEY CHECK (id = 1),
    seq int8 NOT NULL,
    at  int8 NOT NULL
  ) WITH (fillfactor = 50);
  INSERT INTO audit_end VALUES (1, 0, 0);

  CREATE TRIGGER audit_rows_stay BEFORE DELETE OR UPDATE OR TRUNCATE ON audit
  FOR EACH STATEMENT EXECUTE FUNCTION petstore_refuse('audit rows are never changed or deleted');

  -- What requests with an idempotency key have made, besides rows of the ledger.
  CREATE TABLE made (
    digest  text COLLATE "C" PRIMARY KEY CHECK (length(digest) = 32),
    request text COLLATE "C" NOT NULL CHECK (length(request) = 32),
    id      text CHECK (id <> ''),
    at      int8 NOT NULL CHECK (at ${isTime})
  );
  CREATE INDEX made_by_time ON made (at);

  -- When each task of maintenance, such as a backup, was last started, and how it ended.
  CREATE TABLE maintenance (
    task         text PRIMARY KEY,
    started_at   int8 NOT NULL,
    succeeded_at int8,
    failed_at    int8,
    result       text,
    error        text
  ) WITH (fillfactor = 50);

  -- The pets that a person has counted and not applied yet.
  CREATE TABLE stocktakes (
    key_id text PRIMARY KEY REFERENCES keys, pet_ids text NOT NULL, at int8 NOT NULL
  ) WITH (fillfactor = 50);

  -- lease_holder names the instance that delivers a webhook, until lease_until. The number of an attempt
  -- is the value of last_attempt after it was added. No index includes a column that deliveries change,
  -- so that their updates stay within a page.
  CREATE TABLE webhooks (
    id                  text PRIMARY KEY,
    name                text NOT NULL CHECK (name <> ''),
    url                 text NOT NULL CHECK (url <> ''),
    filter              text NOT NULL CHECK (filter LIKE '{%}'),
    secret              text NOT NULL CHECK (substr(secret, 1, 6) = 'whsec_'),
    previous_secret     text CHECK (substr(previous_secret, 1, 6) = 'whsec_'),
    previous_expires_at int8 CHECK (previous_expires_at ${isTime}),
    created_at          int8 NOT NULL CHECK (created_at ${isTime}),
    state               text NOT NULL CHECK (state IN ('active', 'paused', 'disabled')),
    state_reason        text,
    version             int8 NOT NULL,
    replays             int8 NOT NULL CHECK (replays >= 0),
    cursor_epoch        text NOT NULL CHECK (cursor_epoch <> ''),
    cursor_seq          int8 NOT NULL CHECK (cursor_seq >= 0),
    failures            int8 NOT NULL CHECK (failures >= 0),
    failing_since       int8 CHECK (failing_since ${isTime}),
    next_attempt_at     int8 NOT NULL CHECK (next_attempt_at ${isTime}),
    last_attempt        int8 NOT NULL DEFAULT 0,
    lease_holder        text,
    lease_until         int8 NOT NULL DEFAULT 0
  ) WITH (fillfactor = 50);

  CREATE TABLE webhook_attempts (
    webhook_id  text NOT NULL REFERENCES webhooks ON DELETE CASCADE,
    number      int8 NOT NULL,
    at          int8 NOT NULL,
    message_id  text NOT NULL,
    first_seq   int8 NOT NULL,
    last_seq    int8 NOT NULL,
    changes     int8 NOT NULL,
    duration_ms int8 NOT NULL,
    status      int8,
    error       text,
    answer      text NOT NULL,
    PRIMARY KEY (webhook_id, number)
  );

  -- The stock of one pet. A function, because a statement by itself cannot keep the planner from
  -- reading all versions by a bitmap.
  CREATE FUNCTION petstore_stock(asked int8) RETURNS TABLE (quantity int8, status text)
  LANGUAGE plpgsql STABLE ROWS 1 SET enable_seqscan = off SET enable_bitmapscan = off AS $$
  BEGIN
    RETURN QUERY SELECT inventory.quantity, inventory.status FROM inventory
    WHERE pet_id = asked ORDER BY generation DESC LIMIT 1;
  END $$;

  -- One entry with the epoch of its version.
  CREATE FUNCTION petstore_entry(asked int8)
  RETURNS TABLE (quantity int8, status text, version int8, epoch text)
  LANGUAGE plpgsql STABLE ROWS 1 SET enable_seqscan = off SET enable_bitmapscan = off AS $$
  BEGIN
    RETURN QUERY
    SELECT inventory.quantity, inventory.status, inventory.version,
      (SELECT epochs.epoch FROM epochs WHERE from_seq < inventory.version
       ORDER BY number DESC LIMIT 1)
    FROM inventory WHERE pet_id = asked ORDER BY generation DESC LIMIT 1;
  END $$;

  -- Rows after a number, up to another one, in order.
  CREATE FUNCTION petstore_rows(
    after_seq int8, up_to int8, only_cause text, only_key_id text, rows_max int8)
  RETURNS SETOF ledger
  LANGUAGE plpgsql STABLE ROWS 100 SET enable_seqscan = off SET enable_bitmapscan = off AS $$
  BEGIN
    RETURN QUERY
    SELECT * FROM ledger WHERE seq > after_seq AND seq <= up_to
      AND (only_cause IS NULL OR cause = only_cause)
      AND (only_key_id IS NULL OR key_id = only_key_id)
    ORDER BY seq LIMIT rows_max;
  END $$;

  -- The number of the last row at or before a time, by binary search: rows are numbered without
  -- gaps. Null if a row that the search needs is missing.
  CREATE FUNCTION petstore_seq_at(asked int8) RETURNS int8
  LANGUAGE plpgsql STABLE SET enable_seqscan = off SET enable_bitmapscan = off AS $$
  DECLARE
    low int8 := 0;
    high int8 := (SELECT seq FROM ledger_end ORDER BY seq DESC LIMIT 1);
    middle int8;
    middle_at int8;
  BEGIN
    WHILE low < high LOOP
      middle := (low + high + 1) / 2;
      middle_at := (SELECT at FROM ledger WHERE seq = middle);
      IF middle_at IS NULL THEN RETURN NULL;
      ELSIF middle_at <= asked THEN low := middle;
      ELSE high := middle - 1;
      END IF;
    END LOOP;
    RETURN low;
  END $$;

  -- Rows of a pet, the newest first. Each refers to the one before it.
  CREATE FUNCTION petstore_pet_rows(asked int8, from_seq int8, rows_max int8)
  RETURNS SETOF ledger
  LANGUAGE plpgsql STABLE ROWS 100 SET enable_seqscan = off SET enable_bitmapscan = off AS $$
  DECLARE
    one ledger;
    next_seq int8 := from_seq;
  BEGIN
    FOR step IN 1 .. rows_max LOOP
      SELECT * INTO one FROM ledger WHERE seq = next_seq AND pet_id = asked;
      EXIT WHEN NOT FOUND;
      RETURN NEXT one;
      next_seq := one.previous;
    END LOOP;
  END $$;

  -- The row of a pet before a number, or where the search stopped; 0 after the pet's first row.
  CREATE FUNCTION petstore_pet_row_before(
    asked int8, from_seq int8, before_seq int8, steps_max int8)
  RETURNS int8
  LANGUAGE plpgsql STABLE SET enable_seqscan = off SET enable_bitmapscan = off AS $$
  DECLARE
    here int8 := (SELECT seq FROM ledger WHERE seq = from_seq AND pet_id = asked);
  BEGIN
    FOR step IN 1 .. steps_max LOOP
      EXIT WHEN here IS NULL OR here < before_seq;
      here := (SELECT previous FROM ledger WHERE seq = here);
    END LOOP;
    RETURN coalesce(here, 0);
  END $$;

  -- The hash of the last row, from the hash before the first row and the texts of all rows.
  CREATE FUNCTION petstore_link(hash text, first_hash text, row_text text) RETURNS text
  LANGUAGE plpgsql IMMUTABLE AS $$
  BEGIN
    RETURN encode(sha256(convert_to(coalesce(hash, first_hash) || row_text, 'UTF8')), 'hex');
  END $$;

  CREATE AGGREGATE petstore_chain(first_hash text, row_text text) (
    SFUNC = petstore_link, STYPE = text);

  -- The text of a row that its hash covers, as the service writes it.
  CREATE FUNCTION petstore_row_text(
    seq int8, pet_id int8, quantity_before int8, status_before text, quantity_after int8,
    status_after text, cause text, key_id text, request_id text, reason text, at int8)
  RETURNS text LANGUAGE sql STABLE AS $$
    SELECT '[' || seq || ',' || pet_id || ',' ||
      coalesce(quantity_before::text, 'null') || ',' ||
      coalesce('"' || status_before || '"', 'null') || ',' ||
      coalesce(quantity_after::text, 'null') || ',' ||
      coalesce('"' || status_after || '"', 'null') || ',' ||
      to_json(cause)::text || ',' ||
      coalesce(to_json(key_id)::text, 'null') || ',' ||
      coalesce(to_json(request_id)::text, 'null') || ',' ||
      coalesce(to_json(reason)::text, 'null') || ',' || at || ']'
  $$;

  -- Sets the quantities of pets: adds the ledger rows with their hashes, updates the entries, moves the
  -- end of the ledger, and commits. The head is never locked while the server waits for the caller. The
  -- result is sent after the commit.
  --
  -- Does so only if the clock shows a time between "not_before" and "not_after", in milliseconds, once
  -- the head is locked. No other update is stored between that check and the commit. "checked_at" is the
  -- time of the check. If it was too early or too late, "store_epoch" is null.
  --
  -- A pet may be named several times: "earlier" then has the index of the last update of the same pet,
  -- or null, for each. "sources" are the texts of cause, key, request and reason that the hashes cover.
  -- Texts are lines, and an empty line is null. "records" are the idempotency keys of the group, if it
  -- has some, and "keys_after" is the last row of remembered_keys that the caller knows.
  --
  -- Returns the end of the ledger before, the time of the new rows, the stored epoch, and lists with the
  -- quantity, status and version that each update started from. "tip_seq" is null if nothing was done.
  -- If that is because a pet has no entry, the lists have an empty element for it. If the lists are null
  -- too, the server is on another timeline, the isolation level is not READ COMMITTED, or there are keys
  -- that the caller does not know.
  CREATE PROCEDURE petstore_set_quantities(
    not_before int8, not_after int8, moment int8, known_timeline int8, pets int8[], quantities int8[],
    earlier int4[], row_cause text, key_lines text, request_lines text, reason_lines text,
    source_lines text, keys_after int8, records bytea, INOUT tip_seq int8, INOUT row_at int8,
    INOUT store_epoch text, INOUT found_quantities text, INOUT found_statuses text,
    INOUT found_versions text, INOUT checked_at int8)
  LANGUAGE plpgsql AS $$
  DECLARE
    setting text;
    tip ledger_end;
    hash text;
    superseded int4;
    rows int4 := cardinality(pets);
    key_ids text[] := string_to_array(key_lines, E'\\n', '');
    request_ids text[] := string_to_array(request_lines, E'\\n', '');
    reasons text[] := string_to_array(reason_lines, E'\\n', '');
    sources text[] := string_to_array(source_lines, E'\\n');
    -- Of each update, in order.
    befores int8[];
    statuses text[];
    previouses int8[];
    ids tid[];
    row_texts text[];
    hashes text[];
  BEGIN
    -- Commits wait for the disk, also where the server or the role has turned that off.
    IF current_setting('synchronous_commit') = 'off' THEN
      setting := set_config('synchronous_commit', 'on', true);
    END IF;
    checked_at := floor(extract(epoch FROM pg_catalog.clock_timestamp()) * 1000);
    -- Not 0, which would mean no limit.
    setting := set_config('lock_timeout', least(greatest(not_after - checked_at, 1), 3000)::text, true);
    -- Entries are read by the index, from its end, however small the tables were when this was planned.
    setting := set_config('enable_seqscan', 'off', true);
    setting := set_config('enable_bitmapscan', 'off', true);
    setting := set_config('plan_cache_mode', 'force_generic_plan', true);

    -- A statement of its own. The next one sees what was committed before it got the lock, unless the
    -- isolation level prevents that.
    SELECT epoch INTO store_epoch FROM store WHERE id = 1 FOR UPDATE;
    checked_at := floor(extract(epoch FROM pg_catalog.clock_timestamp()) * 1000);
    IF checked_at < not_before OR checked_at > not_after THEN
      store_epoch := NULL;
      RETURN;
    END IF;
    IF current_setting('transaction_isolation') <> 'read committed' OR known_timeline <>
      ('x' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8))::bit(32)::int4
    THEN RETURN; END IF;
    IF records IS NOT NULL AND EXISTS (SELECT FROM remembered_keys WHERE seq > keys_after)
    THEN RETURN; END IF;
    SELECT * INTO tip FROM ledger_end ORDER BY ledger_end.seq DESC LIMIT 1;
    row_at := greatest(tip.at,
      coalesce(moment, floor(extract(epoch FROM clock_timestamp()) * 1000)::int8));

    -- A loop over the pets is the only possible plan, so the arrays have their order.
    SELECT array_agg(coalesce(quantities[earlier[n]], entry.quantity)), array_agg(entry.status),
      array_agg(coalesce(tip.seq + earlier[n], entry.version)), array_agg(entry.id),
      array_agg('[' || tip.seq + n || ',' || pets[n] || ',' ||
        coalesce(quantities[earlier[n]], entry.quantity) || ',"' || entry.status || '",' ||
        quantities[n] || ',"' || entry.status || '",' || sources[n] || ',' || row_at || ']')
    INTO befores, statuses, previouses, ids, row_texts
    FROM generate_series(1, rows) AS n LEFT JOIN LATERAL (
      SELECT inventory.quantity, inventory.status, inventory.version, inventory.ctid AS id
      FROM inventory WHERE inventory.pet_id = pets[n]
      ORDER BY inventory.generation DESC LIMIT 1) AS entry ON true;
    found_quantities := array_to_string(befores, ',', '');
    found_statuses := array_to_string(statuses, ',', '');
    found_versions := array_to_string(previouses, ',', '');
    IF array_position(statuses, NULL) IS NOT NULL THEN RETURN; END IF;

    hash := tip.hash;
    FOR n IN 1 .. rows LOOP
      hash := encode(sha256(convert_to(hash || row_texts[n], 'UTF8')), 'hex');
      hashes[n] := hash;
    END LOOP;
    IF earlier IS NOT NULL THEN
      FOREACH superseded IN ARRAY earlier LOOP
        IF superseded IS NOT NULL THEN ids[superseded] := NULL; END IF;
      END LOOP;
    END IF;

    INSERT INTO ledger (seq, pet_id, quantity_before, quantity_after, status_before, status_after,
                        previous, cause, key_id, request_id, reason, at, hash)
    SELECT tip.seq + n, pets[n], befores[n], quantities[n], statuses[n], statuses[n], previouses[n],
           row_cause, key_ids[n], request_ids[n], reasons[n], row_at, decode(hashes[n], 'hex')
    FROM generate_series(1, rows) AS n;
    UPDATE inventory SET quantity = quantities[n], version = tip.seq + n, changes = changes + 1,
      generation = (changes + 1) / 16
    FROM generate_series(1, rows) AS n WHERE inventory.ctid = ids[n];
    UPDATE ledger_end SET seq = tip.seq + rows, at = row_at, hash = hashes[rows]
    WHERE ledger_end.seq = tip.seq;
    IF records IS NOT NULL THEN
      INSERT INTO remembered_keys VALUES (tip.seq + 1, row_at, records);
    END IF;
    tip_seq := tip.seq;
    COMMIT;
  END $$;

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

  -- Returns requests that were counted in advance and not used. Does nothing for a window that is over,
  -- and for a key whose generation grew at the same moment: those requests stay counted. Counts never
  -- become negative. The settings and conditions are those of petstore_take, for the same reasons.
  CREATE FUNCTION petstore_give_back(
    given_keys text[], given_minutes int8[], given_in_minute int8[], given_days int8[],
    given_in_day int8[]) RETURNS void
  LANGUAGE plpgsql SET enable_seqscan = off SET enable_bitmapscan = off
  SET plan_cache_mode = force_generic_plan AS $$
  BEGIN
    PERFORM set_config('synchronous_commit', 'off', true);
    UPDATE counts SET
      minute_count = CASE WHEN minute_start = minute THEN greatest(0, minute_count - in_minute)
                          ELSE minute_count END,
      day_count = CASE WHEN day_start = day THEN greatest(0, day_count - in_day) ELSE day_count END
    FROM (SELECT one.*, (SELECT newest.generation FROM counts AS newest
                         WHERE newest.key_id = one.key
                         ORDER BY newest.generation DESC LIMIT 1) AS newest
          FROM unnest(given_keys, given_minutes, given_in_minute, given_days, given_in_day)
            AS one(key, minute, in_minute, day, in_day)
          ORDER BY key) AS given
    WHERE counts.key_id = ANY (ARRAY[given.key])
      AND counts.generation = ANY (ARRAY[given.newest]);
  END $$;
`;
