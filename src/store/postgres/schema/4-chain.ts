import { genesisHash } from "../../../domain/ledger/chain.ts";

/**
 * Step 4: the hash chain. Rows of earlier versions have no hash, because rows are never changed. The
 * table `chain` has the hash of the last of them, so the hash of the next row covers them too.
 *
 * Locks the head first, so that no row is added meanwhile, and alters the ledger last, so that
 * instances of the earlier version can read it until then. A row without a hash would break the
 * chain, so those instances can no longer write: the default of the column raises an error that they
 * report as 503.
 */
export const chain = `
  SELECT id FROM store FOR UPDATE;

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

  CREATE TABLE chain (
    id       int2 PRIMARY KEY CHECK (id = 1),
    from_seq int8 NOT NULL CHECK (from_seq >= 0),
    hash     text NOT NULL
  );
  INSERT INTO chain
  SELECT 1, coalesce(max(seq), 0), coalesce(petstore_chain('${genesisHash}', petstore_row_text(
    seq, pet_id, quantity_before, status_before, quantity_after, status_after, cause, key_id,
    request_id, reason, at) ORDER BY seq), '${genesisHash}')
  FROM ledger;

  ALTER TABLE ledger_end ADD COLUMN hash text NOT NULL DEFAULT '';
  UPDATE ledger_end SET hash = chain.hash FROM chain WHERE seq = chain.from_seq;

  ALTER TABLE ledger ADD COLUMN hash bytea CHECK (length(hash) = 32);
  CREATE FUNCTION petstore_refuse_unhashed() RETURNS bytea LANGUAGE plpgsql AS $$
  BEGIN
    RAISE EXCEPTION 'this store needs petstore 0.4 or later' USING ERRCODE = 'lock_not_available';
  END $$;
  ALTER TABLE ledger ALTER COLUMN hash SET DEFAULT petstore_refuse_unhashed();
`;
