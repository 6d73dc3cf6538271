/**
 * Step 12: the procedure of step 11 with a time limit. Earlier code does not call it, and calls the one of
 * step 11 while its instances are replaced.
 */
export const timelyUpdates = `
  -- Does what petstore_set_quantities does, but only if the clock shows a time between "not_before" and
  -- "not_after", in milliseconds, once the head is locked. No other update is stored between that check and
  -- the commit.
  --
  -- Also returns the time of the check. If it was too early or too late, "store_epoch" is null.
  CREATE PROCEDURE petstore_set_quantities_between(
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
`;
