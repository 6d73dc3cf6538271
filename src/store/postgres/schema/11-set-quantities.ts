/**
 * Step 11: applies a group of plain updates in one call. It is `append` of the domain in SQL, for the
 * one kind of unit that needs no decision but whether its pet exists. Earlier code does not call it.
 */
export const setQuantities = `
  -- Sets the quantities of pets: adds the ledger rows with their hashes, updates the entries and moves
  -- the end of the ledger. A pet may be named several times: "earlier" then has the index of the last
  -- update of the same pet, or null, for each. "sources" are the texts of cause, key, request and reason
  -- that the hashes cover. "records" are the idempotency keys of the group, if it has some, and
  -- "keys_after" is the last row of remembered_keys that the caller knows.
  --
  -- Returns the end of the ledger before, the time of the new rows, the stored epoch, and lists with the
  -- quantity, status and version that each update started from. "tip_seq" is null if nothing was done.
  -- If that is because a pet has no entry, the lists have an empty element for it. If the lists are null
  -- too, the server is on another timeline, the isolation level is not READ COMMITTED, or there are keys
  -- that the caller does not know.
  CREATE FUNCTION petstore_apply_quantities(
    moment int8, known_timeline int8, pets int8[], quantities int8[], earlier int4[], row_cause text,
    key_ids text[], request_ids text[], reasons text[], sources text[], keys_after int8,
    records bytea, OUT tip_seq int8, OUT row_at int8, OUT store_epoch text,
    OUT found_quantities text, OUT found_statuses text, OUT found_versions text)
  LANGUAGE plpgsql
  SET enable_seqscan = off SET enable_bitmapscan = off SET plan_cache_mode = force_generic_plan
  SET lock_timeout = 3000 AS $$
  DECLARE
    tip ledger_end;
    hash text;
    superseded int4;
    -- Of each update, in order.
    befores int8[];
    statuses text[];
    previouses int8[];
    ids tid[];
    row_texts text[];
    hashes text[];
  BEGIN
    -- A statement of its own. The next one sees what was committed before it got the lock, unless the
    -- isolation level prevents that.
    SELECT store.epoch INTO store_epoch FROM store WHERE id = 1 FOR UPDATE;
    IF current_setting('transaction_isolation') <> 'read committed' OR known_timeline <>
      ('x' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8))::bit(32)::int4
    THEN RETURN; END IF;
    IF records IS NOT NULL AND EXISTS (SELECT FROM remembered_keys WHERE seq > keys_after)
    THEN RETURN; END IF;
    SELECT * INTO tip FROM ledger_end ORDER BY ledger_end.seq DESC LIMIT 1;
    row_at := greatest(tip.at,
      coalesce(moment, floor(extract(epoch FROM clock_timestamp()) * 1000)::int8));

    -- A loop over the pets is the only possible plan, so the lists have their order.
    SELECT array_agg(coalesce(quantities[named.earlier], entry.quantity)), array_agg(entry.status),
      array_agg(coalesce(tip.seq + named.earlier, entry.version)), array_agg(entry.id),
      array_agg('[' || tip.seq + named.n || ',' || named.pet || ',' ||
        coalesce(quantities[named.earlier], entry.quantity) || ',"' || entry.status || '",' ||
        named.quantity || ',"' || entry.status || '",' || named.source || ',' || row_at || ']')
    INTO befores, statuses, previouses, ids, row_texts
    FROM unnest(pets, quantities, earlier, sources) WITH ORDINALITY
        AS named(pet, quantity, earlier, source, n)
      LEFT JOIN LATERAL (
        SELECT inventory.quantity, inventory.status, inventory.version, inventory.ctid AS id
        FROM inventory WHERE inventory.pet_id = named.pet
        ORDER BY inventory.generation DESC LIMIT 1) AS entry ON true;
    found_quantities := array_to_string(befores, ',', '');
    found_statuses := array_to_string(statuses, ',', '');
    found_versions := array_to_string(previouses, ',', '');
    IF array_position(statuses, NULL) IS NOT NULL THEN RETURN; END IF;

    hash := tip.hash;
    FOR n IN 1 .. cardinality(row_texts) LOOP
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
    SELECT tip.seq + row.n, row.pet, row.before, row.after, row.status, row.status, row.previous,
           row_cause, row.key_id, row.request_id, row.reason, row_at, decode(row.hash, 'hex')
    FROM unnest(pets, befores, quantities, statuses, previouses, key_ids, request_ids, reasons, hashes)
      WITH ORDINALITY
      AS row(pet, before, after, status, previous, key_id, request_id, reason, hash, n);
    UPDATE inventory SET quantity = entry.quantity, version = tip.seq + entry.n,
      changes = changes + 1, generation = (changes + 1) / 16
    FROM unnest(ids, quantities) WITH ORDINALITY AS entry(id, quantity, n)
    WHERE inventory.ctid = entry.id;
    UPDATE ledger_end SET seq = tip.seq + cardinality(pets), at = row_at, hash = hashes[cardinality(hashes)]
    WHERE ledger_end.seq = tip.seq;
    IF records IS NOT NULL THEN
      INSERT INTO remembered_keys (seq, at, records)
      VALUES (tip.seq + 1, petstore_apply_quantities.row_at, petstore_apply_quantities.records);
    END IF;
    tip_seq := tip.seq;
  END $$;

  -- Applies and commits. The head is locked only while the server works: it waits neither for the
  -- caller nor for the network. The result is sent after the commit. The commit waits for the disk, also
  -- where the server or the role has turned that off. Texts are separated by line breaks.
  --
  -- The settings above are those of a function, because a procedure that has some cannot commit.
  CREATE PROCEDURE petstore_set_quantities(
    moment int8, known_timeline int8, pets int8[], quantities int8[], earlier int4[], row_cause text,
    key_ids text, request_ids text, reasons text, sources text, keys_after int8, records bytea,
    INOUT tip_seq int8, INOUT row_at int8, INOUT store_epoch text, INOUT found_quantities text,
    INOUT found_statuses text, INOUT found_versions text)
  LANGUAGE plpgsql AS $$
  BEGIN
    IF current_setting('synchronous_commit') = 'off' THEN
      PERFORM set_config('synchronous_commit', 'on', true);
    END IF;
    SELECT applied.* INTO tip_seq, row_at, store_epoch, found_quantities, found_statuses, found_versions
    FROM petstore_apply_quantities(
      moment, known_timeline, pets, quantities, earlier, row_cause, string_to_array(key_ids, E'\\n'),
      string_to_array(request_ids, E'\\n'), string_to_array(reasons, E'\\n', ''),
      string_to_array(sources, E'\\n'), keys_after, records) AS applied;
    COMMIT;
  END $$;
`;
