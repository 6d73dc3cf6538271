import { type EntryColumns, stockAt } from "../snapshots/columns.ts";
import { UnreadablePart, unpackPart } from "../snapshots/parts.ts";
import type { Checkpoint, CheckpointReader } from "../snapshots/store.ts";
import type { Faults } from "./faults.ts";
import { type PetStates, stockText } from "./states.ts";

/** Compares checkpoints with the ledger while it is replayed. */
export interface CheckpointsCheck {
  /** Call before a row is applied. Returns a promise if there is a checkpoint to compare. */
  row(seq: number): Promise<void> | undefined;
  /** Call after the last row. */
  end(seq: number): Promise<void>;
}

/** Parts that are read at a time. */
const partsAtOnce = 4;

/** `states` must contain the ledger up to the row before the one that is passed to `row`. */
export async function createCheckpointsCheck(
  reader: CheckpointReader,
  states: PetStates,
  faults: Faults,
): Promise<CheckpointsCheck> {
  const checkpoints = await reader.listCheckpoints();
  let next = 0;

  async function checkBefore(seq: number): Promise<void> {
    for (; next < checkpoints.length && checkpoints[next]!.seq < seq; next++) {
      await checkCheckpoint(reader, checkpoints[next]!, states, faults);
    }
  }

  return {
    row: (seq) =>
      next < checkpoints.length && checkpoints[next]!.seq < seq ? checkBefore(seq) : undefined,
    async end(seq) {
      await checkBefore(seq + 1);
      for (const later of checkpoints.slice(next)) {
        faults.note(`checkpoint ${later.seq}`, "is after the ledger", `row ${seq} at the latest`);
      }
    },
  };
}

/** Compares every entry of a checkpoint with the state of its pet, and every pet with the entries. */
async function checkCheckpoint(
  reader: CheckpointReader,
  { seq, entries }: Checkpoint,
  states: PetStates,
  faults: Faults,
): Promise<void> {
  const where = `checkpoint ${seq}`;
  const found = new Uint8Array(states.count());
  let count = 0;
  let last: bigint | undefined;
  for await (const part of readParts(reader, seq, where, faults)) {
    for (let index = 0; index < part.count; index++) {
      const petId = part.petIds[index]!;
      if (last !== undefined && petId <= last) {
        faults.note(`${where}, pet ${petId}`, `comes after pet ${last}`, "ascending ids");
      }
      checkEntry(part, index, states, found, `${where}, pet ${petId}`, faults);
      last = petId;
    }
    count += part.count;
  }
  if (count !== entries) faults.note(where, `has ${count} entries`, `${entries}, as it says`);
  for (let slot = 0; slot < found.length; slot++) {
    if (found[slot] === 1 || states.quantityOf(slot) === null) continue;
    faults.note(`${where}, pet ${states.petIdOf(slot)}`, "has no entry", stateText(states, slot));
  }
}

function checkEntry(
  part: EntryColumns,
  index: number,
  states: PetStates,
  found: Uint8Array,
  where: string,
  faults: Faults,
): void {
  const slot = states.slotOf(part.petIds[index]!);
  const { quantity, status } = stockAt(part, index)!;
  const version = part.versions[index]!;
  found[slot] = 1;
  if (
    quantity !== states.quantityOf(slot) ||
    status !== states.statusOf(slot) ||
    version !== states.seqOf(slot)
  ) {
    faults.note(
      where,
      `${stockText(quantity, status)} at version ${version}`,
      stateText(states, slot),
    );
  }
}

function stateText(states: PetStates, slot: number): string {
  const seq = states.seqOf(slot);
  if (seq === 0) return "nothing: the ledger has no row of it";
  return `${stockText(states.quantityOf(slot), states.statusOf(slot))} at version ${seq}`;
}

/** Reads the parts of a checkpoint. Skips those that cannot be read, after noting them. */
async function* readParts(
  reader: CheckpointReader,
  seq: number,
  where: string,
  faults: Faults,
): AsyncGenerator<EntryColumns> {
  let after: bigint | null = null;
  for (;;) {
    const parts = await reader.partsAfter(seq, after, partsAtOnce);
    for (const { firstPetId, data } of parts) {
      after = firstPetId;
      try {
        yield unpackPart(data);
      } catch (error) {
        if (!(error instanceof UnreadablePart)) throw error;
        const found = `the part from pet ${firstPetId} cannot be read: ${error.message}`;
        faults.note(where, found, "a readable part");
      }
    }
    if (parts.length < partsAtOnce) return;
  }
}
