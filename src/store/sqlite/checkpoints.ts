import type { Database } from "bun:sqlite";
import type { Position } from "../../domain/ledger/epochs.ts";
import type { Checkpoint, CheckpointPart } from "../../domain/snapshots/store.ts";
import { int64Max } from "../../domain/values/int64.ts";
import { firstIdAfter, toCheckpoint, toCheckpointPart } from "../rows.ts";

/** Reads checkpoints. Every method returns a value, not a promise. */
export function createCheckpointReader(database: Database) {
  const find = database.query(
    "SELECT seq, entries FROM checkpoints WHERE seq <= ? ORDER BY seq DESC LIMIT 1",
  );
  const findNext = database.query(
    "SELECT seq, entries FROM checkpoints WHERE seq >= ? ORDER BY seq LIMIT 1",
  );
  const list = database.query("SELECT seq, entries FROM checkpoints ORDER BY seq");
  const parts = database.query(
    `SELECT first_pet_id, data FROM checkpoint_parts
     WHERE seq = ? AND first_pet_id >= ? ORDER BY first_pet_id LIMIT ?`,
  );
  const partOf = database.query(
    `SELECT first_pet_id, data FROM checkpoint_parts
     WHERE seq = ? AND first_pet_id <= ? ORDER BY first_pet_id DESC LIMIT 1`,
  );
  return {
    findCheckpoint: (seq: number): Checkpoint | undefined => find.values(seq).map(toCheckpoint)[0],
    findNextCheckpoint: (seq: number): Checkpoint | undefined =>
      findNext.values(seq).map(toCheckpoint)[0],
    listCheckpoints: (): readonly Checkpoint[] => list.values().map(toCheckpoint),
    partsAfter: (seq: number, petId: bigint | null, partsMax: number): readonly CheckpointPart[] =>
      petId === int64Max
        ? []
        : parts.values(seq, firstIdAfter(petId), partsMax).map(toCheckpointPart),
    findPart: (seq: number, petId: bigint): CheckpointPart | undefined =>
      partOf.values(seq, petId).map(toCheckpointPart)[0],
  };
}

const isWriter = "EXISTS (SELECT 1 FROM checkpoint_writer WHERE name = ?1)";

/** Writes checkpoints. Each call is one statement, and so one transaction. */
export function createCheckpointWriter(database: Database) {
  const setWriter = database.query("UPDATE checkpoint_writer SET name = ?1");
  const checkWriter = database.query(`SELECT ${isWriter}`);
  const remove = database.query(
    `DELETE FROM checkpoint_parts WHERE rowid IN (
       SELECT rowid FROM checkpoint_parts AS part
       WHERE NOT EXISTS (SELECT 1 FROM checkpoints WHERE checkpoints.seq = part.seq) LIMIT ?2)
     AND ${isWriter}`,
  );
  const insertPart = database.query(
    `INSERT INTO checkpoint_parts (seq, first_pet_id, data) SELECT ?2, ?3, ?4 WHERE ${isWriter}`,
  );
  const insert = database.query(
    `INSERT INTO checkpoints (seq, entries) SELECT ?2, ?3 FROM head
     WHERE epoch = ?4 AND head.seq >= ?2 AND ${isWriter}`,
  );

  return {
    /** Only one process serves a file, so a writer that has not finished was ended. */
    claimCheckpoints(writer: string): boolean {
      setWriter.run(writer);
      return true;
    },
    removeUnfinishedParts(writer: string, partsMax: number): number | false {
      const { changes } = remove.run(writer, partsMax);
      return Number((checkWriter.values(writer)[0] as unknown[])[0]) === 1 ? changes : false;
    },
    addCheckpointPart: (
      writer: string,
      seq: number,
      { firstPetId, data }: CheckpointPart,
    ): boolean => insertPart.run(writer, seq, firstPetId, data).changes > 0,
    completeCheckpoint: (writer: string, { epoch, seq }: Position, entries: number): boolean =>
      insert.run(writer, seq, entries, epoch).changes > 0,
  };
}
