import type { CheckpointReader, CheckpointStore } from "../../domain/snapshots/store.ts";
import { checkpointReads } from "../checkpoints.ts";
import { checkedRows } from "./engine/checked-reads.ts";
import { nowMs } from "./engine/clock.ts";
import { type PrimaryGuard, timelineNow } from "./engine/primary.ts";
import { scriptsOn } from "./engine/scripts.ts";
import type { Query } from "./engine/session.ts";
import { waitForDisk } from "./engine/transaction.ts";
import type { Epochs } from "./epochs.ts";

/** Adds the timeline of the server to a statement of two columns, also where it finds no row. */
function orTimeline(text: string): string {
  return `SELECT found.*, ${timelineNow}
    FROM (SELECT) AS one LEFT JOIN LATERAL (${text}) AS found ON true`;
}

export function createCheckpointReader(guard: PrimaryGuard, query: Query): CheckpointReader {
  const readRows = checkedRows(guard, query);
  const read: Query = async (text, values) =>
    (await readRows(orTimeline(text), values)).filter(([key]) => key !== null);
  return scriptsOn(read, checkpointReads);
}

/**
 * How long the writer may be silent before another instance takes over. Reading the rows of one
 * checkpoint takes seconds.
 */
const silenceMs = 60_000;

/** $1 is the time or null, $2 the writer. A clock that was ahead has given more time than a claim does. */
const claimText = `
  UPDATE checkpoint_writer SET name = $2, until = ${nowMs} + ${silenceMs}
  WHERE id = 1 AND (name = $2 OR until <= ${nowMs} OR until > ${nowMs} + ${silenceMs})
  RETURNING id`;

/**
 * Extends the time of the writer, and locks its row until the transaction ends: another instance
 * that takes over sees what this statement wrote.
 */
const asWriter = `
  WITH writer AS (
    UPDATE checkpoint_writer SET until = ${nowMs} + ${silenceMs}
    WHERE id = 1 AND name = $2 RETURNING id)`;

const removeText = `${asWriter},
  removed AS (
    DELETE FROM checkpoint_parts AS part USING writer
    WHERE (part.seq, part.first_pet_id) IN (
      SELECT seq, first_pet_id FROM checkpoint_parts
      WHERE NOT EXISTS (SELECT FROM checkpoints WHERE checkpoints.seq = checkpoint_parts.seq)
      LIMIT $3)
    RETURNING part.seq)
  SELECT (SELECT count(*) FROM removed) FROM writer`;

/** A part that is lost in a crash is not missed: the commit of its checkpoint waits for both. */
const addPartText = `${asWriter}
  INSERT INTO checkpoint_parts (seq, first_pet_id, data)
  SELECT $3::int8, $4::int8, $5::bytea FROM writer
  RETURNING set_config('synchronous_commit', 'off', true)`;

/** Ends the time of the writer, so that any instance can write the next checkpoint at once. */
const completeText = `
  WITH writer AS (
    UPDATE checkpoint_writer SET until = 0 WHERE id = 1 AND name = $1 RETURNING id)
  INSERT INTO checkpoints (seq, entries) SELECT $2::int8, $3::int8 FROM writer
  WHERE ${timelineNow} = $4::int4 AND EXISTS (SELECT FROM ledger WHERE seq = $2::int8)
  RETURNING ${waitForDisk}`;

/** Reads and writes checkpoints. Each call is one statement. */
export function createCheckpoints(
  { timelineOf }: Epochs,
  guard: PrimaryGuard,
  query: Query,
  now: () => number | null,
): CheckpointStore {
  return {
    ...createCheckpointReader(guard, query),
    claim: async (writer) => (await query(claimText, [now(), writer])).length > 0,
    async removeUnfinished(writer, partsMax) {
      const [row] = await query(removeText, [now(), writer, partsMax]);
      return row ? Number(row[0]) : false;
    },
    async addPart(writer, seq, { firstPetId, data }) {
      const values = [now(), writer, seq, firstPetId, data];
      return (await query(addPartText, values)).length > 0;
    },
    async complete(writer, { epoch, seq }, entries) {
      const values = [writer, seq, entries, timelineOf(epoch)];
      return (await query(completeText, values)).length > 0;
    },
  };
}
