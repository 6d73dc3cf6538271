import type { Entry } from "../ledger/inventory.ts";
import { entriesOf } from "../snapshots/columns.ts";
import { readParts, UnreadablePart, unpackPart } from "../snapshots/parts.ts";
import type { Checkpoint, CheckpointReader } from "../snapshots/store.ts";
import type { Faults } from "./faults.ts";
import { type PetState, type PetStates, stockText } from "./states.ts";

/** Compares checkpoints with the ledger while it is replayed. */
export interface CheckpointsCheck {
  /** Call before a row is applied. Returns a promise if there is a checkpoint to compare. */
  row(seq: number): Promise<void> | undefined;
  /** Call after the last row. */
  end(seq: number): Promise<void>;
}

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
  const found = new Uint8Array(states.count);
  let count = 0;
  let last: bigint | undefined;
  for await (const { firstPetId, data } of readParts(reader, seq)) {
    for (const { petId, quantity, status, version } of entriesIn(data, firstPetId, where, faults)) {
      const note = (text: string, expected: string) =>
        faults.note(`${where}, pet ${petId}`, text, expected);
      if (last !== undefined && petId <= last) note(`comes after pet ${last}`, "ascending ids");
      const slot = states.slotOf(petId);
      const state = states.at(slot);
      found[slot] = 1;
      if (quantity !== state.quantity || status !== state.status || version !== state.seq) {
        note(`${stockText(quantity, status)} at version ${version}`, stateText(state));
      }
      last = petId;
      count += 1;
    }
  }
  if (count !== entries) faults.note(where, `has ${count} entries`, `${entries}, as it says`);
  for (let slot = 0; slot < found.length; slot++) {
    const state = states.at(slot);
    if (found[slot] === 1 || state.quantity === null) continue;
    faults.note(`${where}, pet ${states.idOf(slot)}`, "has no entry", stateText(state));
  }
}

function stateText({ seq, quantity, status }: PetState): string {
  if (seq === 0) return "nothing: the ledger has no row of it";
  return `${stockText(quantity, status)} at version ${seq}`;
}

/** The entries of a part. None, after noting a fault, if it cannot be read. */
function entriesIn(
  data: Uint8Array,
  firstPetId: bigint,
  where: string,
  faults: Faults,
): readonly Entry[] {
  try {
    return entriesOf(unpackPart(data));
  } catch (error) {
    if (!(error instanceof UnreadablePart)) throw error;
    const found = `the part from pet ${firstPetId} cannot be read: ${error.message}`;
    faults.note(where, found, "a readable part");
    return [];
  }
}
