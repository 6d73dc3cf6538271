/**
 * Step 11: applies a group of plain updates in one call. It is `append` of the domain in SQL, for the
 * one kind of unit that needs no decision but whether its pet exists. Nothing else is written here.
 */
export const setQuantities = `
  -- Sets the quantities of pets: adds the ledger rows with their hashes, updates the entries and moves
  -- the end of the ledger. Pets without an entry are left out. A pet may be named several times;
  -- "earlier" then has the index of the pet's last update before each, and is null otherwise. "sources"
  -- are the texts of cause, key, request and reason that hashes cover. "records" are the idempotency
  -- keys of the group, and "keys_after" is the last row of remembered_keys that the caller knows.
  --
  -- Returns the state before: the end of the ledger as a row without a pet, with the time of the new
  -- rows and the stored epoch; then the entries. Returns nothing, and does nothing, if the server is on
  -- another timeline, if keys were stored that the caller does not know, or if there are keys and a pet
  -- has no entry: the caller then applies the rules itself.
  --
  -- The caller begins and commits. The lock is released by the commit that it has sent already. If that
  -- does not arrive, the server ends the session after 1.5 seconds. Commits wait for the disk, also
  -- where the server or the role has turned that off.
  CREATE FUNCTION petstore_set_quantities(
    moment int8, known_timeline int8, pets int8[], quantities int8[], earlier int4[], row_cause text,
    key_ids text[], request_ids text[], reasons text[], sources text[], keys_after int8,
    records bytea)
  RETURNS TABLE (pet_id int8, quantity int8, status text, version int8)
  LANGUAGE plpgsql
  SET enable_seqscan = off SET enable_bitmapscan = off SET plan_cache_mode = force_generic_plan
  SET lock_timeout = 3000 AS $$
  #variable_conflict use_column
  DECLARE
    store_epoch text;
    tip ledger_end;
    row_at int8;
    last_seq int8;
    last_hash text;
    digest bytea;
    -- Of each named pet. The arrays have the same length, with nulls for pets without an entry.
    found_quantities int8[];
    found_statuses text[];
    found_versions int8[];
    ids tid[];
    -- Of each row.
    seqs int8[];
    befores int8[];
    previouses int8[];
    hashes bytea[];
  BEGIN
    PERFORM set_config('idle_in_transaction_session_timeout', '1500', true);
    IF current_setting('synchronous_commit') = 'off' THEN
      PERFORM set_config('synchronous_commit', 'on', true);
    END IF;
    -- A statement of its own. The next one sees what was committed before it got the lock.
    SELECT epoch INTO store_epoch FROM store WHERE id = 1 FOR UPDATE;
    IF ('x' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8))::bit(32)::int4 <> known_timeline
    THEN RETURN; END IF;
    IF records IS NOT NULL AND EXISTS (SELECT FROM remembered_keys WHERE seq > keys_after)
    THEN RETURN; END IF;
    SELECT * INTO tip FROM ledger_end ORDER BY seq DESC LIMIT 1;
    -- A loop over the pets is the only possible plan, so the arrays have their order.
    SELECT array_agg(entry.quantity), array_agg(entry.status), array_agg(entry.version),
           array_agg(entry.id)
    INTO found_quantities, found_statuses, found_versions, ids
    FROM unnest(pets) AS named(pet) LEFT JOIN LATERAL (
      SELECT quantity, status, version, ctid AS id FROM inventory WHERE pet_id = named.pet
      ORDER BY generation DESC LIMIT 1) AS entry ON true;
    IF records IS NOT NULL AND array_position(found_quantities, NULL) IS NOT NULL
    THEN RETURN; END IF;

    row_at := greatest(tip.at,
      coalesce(moment, floor(extract(epoch FROM clock_timestamp()) * 1000)::int8));
    last_seq := tip.seq;
    last_hash := tip.hash;
    FOR n IN 1 .. cardinality(pets) LOOP
      IF found_quantities[n] IS NULL THEN
        seqs[n] := NULL;
        befores[n] := NULL;
        previouses[n] := NULL;
        hashes[n] := NULL;
        CONTINUE;
      END IF;
      last_seq := last_seq + 1;
      seqs[n] := last_seq;
      IF earlier[n] IS NULL THEN
        befores[n] := found_quantities[n];
        previouses[n] := found_versions[n];
      ELSE
        befores[n] := quantities[earlier[n]];
        previouses[n] := seqs[earlier[n]];
        ids[earlier[n]] := NULL;
      END IF;
      digest := sha256(convert_to(
        last_hash || '[' || last_seq || ',' || pets[n] || ',' || befores[n] || ',"' ||
        found_statuses[n] || '",' || quantities[n] || ',"' || found_statuses[n] || '",' ||
        sources[n] || ',' || row_at || ']', 'UTF8'));
      last_hash := encode(digest, 'hex');
      hashes[n] := digest;
    END LOOP;

    IF last_seq > tip.seq THEN
      INSERT INTO ledger (seq, pet_id, quantity_before, quantity_after, status_before, status_after,
                          previous, cause, key_id, request_id, reason, at, hash)
      SELECT row.seq, pet, before, after, status, status, previous, row_cause, key_id, request_id, reason,
             row_at, hash
      FROM unnest(seqs, pets, befores, quantities, found_statuses, previouses, key_ids, request_ids,
                  reasons, hashes)
        AS row(seq, pet, before, after, status, previous, key_id, request_id, reason, hash)
      WHERE row.seq IS NOT NULL;
      UPDATE inventory SET quantity = entry.quantity, version = entry.seq, changes = changes + 1,
        generation = (changes + 1) / 16
      FROM unnest(ids, quantities, seqs) AS entry(id, quantity, seq)
      WHERE inventory.ctid = entry.id;
      UPDATE ledger_end SET seq = last_seq, at = row_at, hash = last_hash WHERE seq = tip.seq;
      IF records IS NOT NULL THEN
        INSERT INTO remembered_keys (seq, at, records) VALUES (tip.seq + 1, row_at, records);
      END IF;
    END IF;

    RETURN QUERY SELECT NULL::int8, row_at, store_epoch, tip.seq
    UNION ALL SELECT * FROM unnest(pets, found_quantities, found_statuses, found_versions) AS entry
      WHERE entry IS NOT NULL;
  END $$;
`;
