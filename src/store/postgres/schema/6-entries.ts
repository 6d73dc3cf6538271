/**
 * Step 6: reads by the primary key, as functions. A statement by itself cannot keep the planner from
 * reading a whole table, or all versions of a row by a bitmap. A prepared plan that was made while
 * the ledger was small would read all of it for every row once it is large.
 */
export const entries = `
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
`;
