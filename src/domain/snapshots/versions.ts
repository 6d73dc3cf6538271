import { UnreadablePart, unpackPart } from "./parts.ts";
import type { CheckpointReader } from "./store.ts";

/**
 * The version of a pet's entry at the first checkpoint at or after a row. Undefined if there is no
 * such checkpoint, or if it cannot be read: it only saves time.
 */
export async function versionAtCheckpoint(
  checkpoints: CheckpointReader,
  petId: bigint,
  seq: number,
): Promise<number | undefined> {
  const checkpoint = await checkpoints.findNextCheckpoint(seq - 1);
  const part = checkpoint && (await checkpoints.findPart(checkpoint.seq, petId));
  if (!part) return undefined;
  try {
    const { petIds, versions, count } = unpackPart(part.data);
    const index = petIds.subarray(0, count).indexOf(petId);
    return index < 0 ? undefined : versions[index];
  } catch (error) {
    if (error instanceof UnreadablePart) return undefined;
    throw error;
  }
}
