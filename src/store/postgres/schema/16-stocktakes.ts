/** Step 14: which pets each person has counted and not applied yet, and how a count is applied. */
export const stocktakes = `
  CREATE TABLE stocktakes (
    key_id  text PRIMARY KEY REFERENCES keys,
    pet_ids text NOT NULL,
    at      int8 NOT NULL
  ) WITH (fillfactor = 50);

  -- The quantity of a pet at a row, plus what counts corrected since. Null if that is not known.
  CREATE FUNCTION petstore_count_base(asked int8, counted_at int8, rows_max int8) RETURNS int8
  LANGUAGE plpgsql STABLE SET enable_seqscan = off SET enable_bitmapscan = off AS $$
  DECLARE
    one ledger;
    base int8;
    next_seq int8;
    corrected int8 := 0;
  BEGIN
    SELECT quantity, version INTO base, next_seq FROM inventory WHERE pet_id = asked
      ORDER BY generation DESC LIMIT 1;
    FOR step IN 0 .. rows_max LOOP
      IF next_seq <= counted_at THEN RETURN base + corrected; END IF;
      SELECT * INTO one FROM ledger WHERE seq = next_seq;
      EXIT WHEN NOT FOUND OR one.quantity_before IS NULL OR one.cause = 'undo';
      IF one.cause = 'count' THEN
        corrected := corrected + one.quantity_after - one.quantity_before;
      END IF;
      base := one.quantity_before;
      next_seq := one.previous;
    END LOOP;
    RETURN NULL;
  END $$;
`;
