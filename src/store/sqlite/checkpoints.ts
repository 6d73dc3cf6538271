import type { CheckpointStore } from "../../domain/snapshots/store.ts";
import { run, type ScriptsOf } from "../statements.ts";

const isWriter = "EXISTS (SELECT 1 FROM checkpoint_writer WHERE name = $1)";

const removeParts = `DELETE FROM checkpoint_parts WHERE rowid IN (
    SELECT rowid FROM checkpoint_parts AS part
    WHERE NOT EXISTS (SELECT 1 FROM checkpoints WHERE checkpoints.seq = part.seq) LIMIT $1)
  RETURNING 1`;
const insertPart = `INSERT INTO checkpoint_parts (seq, first_pet_id, data)
  SELECT $2, $3, $4 WHERE ${isWriter} RETURNING 1`;
const insertCheckpoint = `INSERT INTO checkpoints (seq, entries) SELECT $2, $3 FROM head
  WHERE epoch = $4 AND head.seq >= $2 AND ${isWriter} RETURNING 1`;

/** Writes checkpoints. Each is one transaction. */
export const checkpointWrites: ScriptsOf<
  CheckpointStore,
  "claim" | "removeUnfinished" | "addPart" | "complete"
> = {
  /** Only one process serves a file, so a writer that has not finished was ended. */
  *claim(writer) {
    yield* run("UPDATE checkpoint_writer SET name = $1", [writer]);
    return true;
  },
  *removeUnfinished(writer, partsMax) {
    const known = yield* run(`SELECT 1 WHERE ${isWriter}`, [writer]);
    return known.length > 0 && (yield* run(removeParts, [partsMax])).length;
  },
  *addPart(writer, seq, { firstPetId, data }) {
    return (yield* run(insertPart, [writer, seq, firstPetId, data])).length > 0;
  },
  *complete(writer, { epoch, seq }, entries) {
    return (yield* run(insertCheckpoint, [writer, seq, entries, epoch])).length > 0;
  },
};
