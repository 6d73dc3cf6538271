import type { Checkpoint, CheckpointPart, CheckpointReader } from "../domain/snapshots/store.ts";
import type { Row } from "./rows.ts";
import { readAll, readFirst, readPage, type ScriptsOf } from "./statements.ts";

function toCheckpoint(row: Row): Checkpoint {
  return { seq: Number(row[0]), entries: Number(row[1]) };
}

function toCheckpointPart(row: Row): CheckpointPart {
  return { firstPetId: row[0] as bigint, data: row[1] as Uint8Array };
}

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
