/**
 * Step 6: one entry with the epoch of its version. A function, because a statement by itself cannot
 * keep the planner from reading all versions of the row by a bitmap.
 */
export const entries = `
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
`;
