/**
 * Step 11: applies and commits a group of plain updates in one call. It is `append` of the domain in
 * SQL, for the one kind of unit that needs no decision but whether its pet exists. Earlier code does
 * not call it. Also adds a function that returns counted requests, and replaces check constraints by
 * cheaper ones.
 */
export const setQuantities = `
  -- Sets the quantities of pets: adds the ledger rows with their hashes, updates the entries, moves the
  -- end of the ledger, and commits. The head is never locked while the server waits for the caller. The
  -- result is sent after the commit.
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
    moment int8, known_timeline int8, pets int8[], quantities int8[], earlier int4[], row_cause text,
    key_lines text, request_lines text, reason_lines text, source_lines text, keys_after int8,
    records bytea, INOUT tip_seq int8, INOUT row_at int8, INOUT store_epoch text,
    INOUT found_quantities text, INOUT found_statuses text, INOUT found_versions text)
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
    setting := set_config('lock_timeout', '3000', true);
    -- Entries are read by the index, from its end, however small the tables were when this was planned.
    setting := set_config('enable_seqscan', 'off', true);
    setting := set_config('enable_bitmapscan', 'off', true);
    setting := set_config('plan_cache_mode', 'force_generic_plan', true);

    -- A statement of its own. The next one sees what was committed before it got the lock, unless the
    -- isolation level prevents that.
    SELECT epoch INTO store_epoch FROM store WHERE id = 1 FOR UPDATE;
    -- A queued caller may wait for two locks, each up to the full timeout. It may have given up by then.
    IF pg_catalog.clock_timestamp() > statement_timestamp() + interval '3 s' THEN
      RAISE EXCEPTION 'the head was locked for too long' USING ERRCODE = 'lock_not_available';
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

  -- The server parses every check constraint again for each statement that writes the table, which took
  -- a tenth of the time of a group of 16 updates. The statuses of rows are those of entries, which are
  -- checked.
  ALTER TABLE ledger DROP CONSTRAINT ledger_quantity_before_check,
    DROP CONSTRAINT ledger_quantity_after_check, DROP CONSTRAINT ledger_status_before_check,
    DROP CONSTRAINT ledger_status_after_check, DROP CONSTRAINT ledger_check,
    DROP CONSTRAINT ledger_hash_check,
    ADD CONSTRAINT ledger_numbers CHECK (
      quantity_before >= 0 AND quantity_after >= 0 AND previous < seq AND length(hash) = 32) NOT VALID;
`;
