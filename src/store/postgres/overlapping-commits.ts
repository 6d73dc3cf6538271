import { unavailable } from "../../domain/errors.ts";
import type { Unit } from "../../domain/ledger.ts";
import type { InventoryStore } from "../../domain/ports.ts";
import { type CommitParts, commit } from "./commit.ts";
import type { ReconnectingConnection } from "./engine/reconnecting-connection.ts";
import { arePlainUpdates, callMsMax, commitPlainUpdates } from "./plain-updates.ts";

/** If an attempt that stored nothing took longer than this, there is no second one. */
const attemptMsMax = 1_000;

/**
 * Commits groups, several at a time if they are plain updates: those are sent without waiting for each
 * other, and the database commits one after the other. A group that the database begins late is not
 * stored, but committed again by itself: its instance may have given up by then, and an update that a
 * client has sent since must not be overwritten.
 */
export function createOverlappingCommits(
  writes: Pick<ReconnectingConnection, "shared" | "exclusive">,
  parts: CommitParts,
  now: () => number | null,
): Pick<InventoryStore, "commit" | "mayOverlap"> {
  const { epochs, keys } = parts;
  let underWay = 0;
  /** Whether the database applied the last group of plain updates itself. */
  let isApplied = false;
  /** The clock of the database, minus the time of this process, when it last stored rows. */
  let clockOffset = 0;

  async function commitShared(units: readonly Unit[], at: number | null) {
    const isBehindOthers = underWay > 0 && at === null;
    const beginsBefore = Math.ceil(performance.now() + clockOffset + callMsMax);
    underWay += 1;
    try {
      const committed = await writes.shared((session) =>
        commitPlainUpdates(session, epochs, keys, units, at, isBehindOthers ? beginsBefore : null),
      );
      isApplied = committed !== undefined;
      const [row] = committed?.rows ?? [];
      if (row) clockOffset = row.at - performance.now();
      return committed;
    } finally {
      underWay -= 1;
    }
  }

  /** A group with idempotency keys has to know those of the groups before it. */
  const isShareable = (units: readonly Unit[]) =>
    arePlainUpdates(units) && !units.some(({ idempotency }) => idempotency);

  return {
    async commit(units) {
      const at = now();
      if (isShareable(units)) {
        const begunAt = performance.now();
        const committed = await commitShared(units, at);
        if (committed) return committed;
        if (performance.now() - begunAt > attemptMsMax) throw unavailable("timeout");
      }
      return writes.exclusive((session) => commit(session, parts, units, at));
    },
    mayOverlap: (units) => isApplied && isShareable(units),
  };
}
