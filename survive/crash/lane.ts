import type { Round } from "../part.ts";
import type { Random } from "../random.ts";

/** One store whose processes are killed again and again. */
export interface Lane {
  readonly round: Round;
  readonly random: Random;
  /** An empty folder. */
  readonly folder: string;
  /** How many kills it does, at most. */
  readonly kills: number;
  /** The command that runs the service. */
  readonly command: readonly string[];
}

/** Whether a lane goes on with its next kill. It does one at least. */
export function goesOn({ round, kills }: Lane, done: number): boolean {
  if (done === 0) return true;
  return done < kills && (round.isShort || performance.now() < round.endsAt);
}
