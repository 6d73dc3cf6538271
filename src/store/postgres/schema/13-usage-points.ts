/**
 * Step 13: the usage of each key over time as one row per minute or day. Earlier versions pack the
 * minutes of an hour and the days of a month into one row of `usage_history`. Their instances still
 * write there while they are replaced, so that table stays. A later release removes it.
 */
export const usagePoints = `
  CREATE TABLE usage_points (
    key_id   text COLLATE "C" NOT NULL,
    step     text COLLATE "C" NOT NULL CHECK (step IN ('minute', 'day')),
    start    int8 NOT NULL,
    admitted int8 NOT NULL,
    refused  int8 NOT NULL,
    PRIMARY KEY (key_id, step, start)
  ) WITH (fillfactor = 80);

  -- The packed numbers are, for every slot with requests, the number of empty slots before it, the
  -- admitted and the refused requests, with seven bits in a byte. What cannot be read is left out.
  CREATE FUNCTION petstore_unpack_usage(counts bytea, slots int4)
  RETURNS TABLE (slot int4, admitted int8, refused int8) LANGUAGE plpgsql AS $$
  DECLARE
    numbers int8[] := '{}';
    number  int8 := 0;
    unit    int8 := 1;
  BEGIN
    slot := -1;
    FOR at IN 0 .. length(counts) - 1 LOOP
      number := number + get_byte(counts, at) % 128 * unit;
      unit := unit * 128;
      CONTINUE WHEN get_byte(counts, at) >= 128;
      numbers := numbers || number;
      number := 0;
      unit := 1;
      CONTINUE WHEN cardinality(numbers) < 3;
      slot := slot + numbers[1] + 1;
      EXIT WHEN slot >= slots;
      admitted := numbers[2];
      refused := numbers[3];
      RETURN NEXT;
      numbers := '{}';
    END LOOP;
  EXCEPTION WHEN numeric_value_out_of_range THEN
    RETURN;
  END $$;

  INSERT INTO usage_points
  SELECT key_id, step, start + slot * step_ms, admitted, refused FROM usage_history
  JOIN (VALUES ('hour', 'minute', 60, 60000::int8), ('month', 'day', 31, 86400000))
    AS rule(span, step, slots, step_ms) USING (span),
  petstore_unpack_usage(counts, slots)
  ON CONFLICT DO NOTHING;
  DROP FUNCTION petstore_unpack_usage;

  -- Old counts of all keys are removed together.
  CREATE INDEX usage_points_by_start ON usage_points (step, start);
`;
