import type { CheckpointReader } from "../domain/snapshots/store.ts";
import { toCheckpoint, toCheckpointPart } from "./rows.ts";
import { readAll, readFirst, readPage, type ScriptsOf } from "./statements.ts";

export const checkpointReads: ScriptsOf<CheckpointReader, keyof CheckpointReader> = {
  findCheckpoint: (seq) =>
    readFirst(
      toCheckpoint,
      "SELECT seq, entries FROM checkpoints WHERE seq <= $1::int8 ORDER BY seq DESC LIMIT 1",
      [seq],
    ),
  findNextCheckpoint: (seq) =>
    readFirst(
      toCheckpoint,
      "SELECT seq, entries FROM checkpoints WHERE seq >= $1::int8 ORDER BY seq LIMIT 1",
      [seq],
    ),
  listCheckpoints: () => readAll(toCheckpoint, "SELECT seq, entries FROM checkpoints ORDER BY seq"),
  partsAfter: (seq, petId, partsMax) =>
    readPage(
      toCheckpointPart,
      `SELECT first_pet_id, data FROM checkpoint_parts
       WHERE first_pet_id >= $1::int8 AND seq = $3::int8 ORDER BY first_pet_id LIMIT $2`,
      petId,
      [partsMax, seq],
    ),
  findPart: (seq, petId) =>
    readFirst(
      toCheckpointPart,
      `SELECT first_pet_id, data FROM checkpoint_parts
       WHERE seq = $1::int8 AND first_pet_id <= $2::int8 ORDER BY first_pet_id DESC LIMIT 1`,
      [seq, petId],
    ),
};
