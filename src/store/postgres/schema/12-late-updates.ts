/**
 * Step 12: a procedure that stores a group of plain updates only in time. It calls the one of step 11,
 * which instances of 0.8.0 and 0.8.1 call themselves while they are replaced.
 */
export const lateUpdates = `
  -- Locks the head. Then does what petstore_set_quantities does, but only if the clock shows a time from
  -- "not_before" to "not_after", in milliseconds. No other update is acknowledged between that check and
  -- the commit, because both happen under the lock.
  --
  -- Also returns the time of the check. "store_epoch" is null if it was too early or too late.
  CREATE PROCEDURE petstore_set_quantities_between(
    not_before int8, not_after int8, moment int8, known_timeline int8, pets int8[], quantities int8[],
    earlier int4[], row_cause text, key_lines text, request_lines text, reason_lines text,
    source_lines text, keys_after int8, records bytea, INOUT tip_seq int8, INOUT row_at int8,
    INOUT store_epoch text, INOUT found_quantities text, INOUT found_statuses text,
    INOUT found_versions text, INOUT checked_at int8)
  LANGUAGE plpgsql AS $$
  DECLARE
    setting text;
  BEGIN
    checked_at := floor(extract(epoch FROM pg_catalog.clock_timestamp()) * 1000);
    -- From 1, because 0 means for ever.
    setting := set_config('lock_timeout', least(greatest(not_after - checked_at, 1), 3000)::text, true);
    PERFORM FROM store WHERE id = 1 FOR UPDATE;
    checked_at := floor(extract(epoch FROM pg_catalog.clock_timestamp()) * 1000);
    IF checked_at < not_before OR checked_at > not_after THEN RETURN; END IF;
    CALL petstore_set_quantities(moment, known_timeline, pets, quantities, earlier, row_cause, key_lines,
      request_lines, reason_lines, source_lines, keys_after, records, tip_seq, row_at, store_epoch,
      found_quantities, found_statuses, found_versions);
  END $$;
`;
