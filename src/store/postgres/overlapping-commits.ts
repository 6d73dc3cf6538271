import type { Committed, Unit } from "../../domain/ledger/ledger.ts";
import type { InventoryStore } from "../../domain/ledger/store.ts";
import { commit } from "./commit.ts";
import { UnknownOutcome } from "./engine/failures.ts";
import type { ReconnectingConnection } from "./engine/reconnecting-connection.ts";
import type { Session } from "./engine/session.ts";
import { arePlainUpdates, type CommitParts, commitPlainUpdates } from "./plain-updates.ts";

/** How long a group waits for others at most. Less than the deadline of the connection. */
const waitMsMax = 3_000;

/**
 * Commits groups, several at a time if they are plain updates: those are sent without waiting for each
 * other, and the database commits one after the other. A group that the database gets to late is not
 * stored, but committed again by itself.
 */
export function createOverlappingCommits(
  writes: Pick<ReconnectingConnection, "shared" | "exclusive">,
  parts: CommitParts,
  now: () => number | null,
): Pick<InventoryStore, "commit" | "mayOverlap"> {
  /** Whether the database applied the last group of plain updates itself. */
  let isApplied = false;

  /** A group with idempotency keys has to know those of the groups before it. */
  const isShareable = (units: readonly Unit[]) =>
    arePlainUpdates(units) && !units.some(({ idempotency }) => idempotency);

  return {
    async commit(units, withinMs = waitMsMax) {
      const giveUpAt = performance.now() + Math.min(withinMs, waitMsMax);
      const terms = { now: now(), giveUpAt };
      if (isShareable(units)) {
        const committed = await attempt(writes.shared, (session) =>
          commitPlainUpdates(session, parts, units, terms),
        );
        isApplied = committed !== undefined;
        if (committed) return committed;
      }
      return attempt(writes.exclusive, (session) => commit(session, parts, units, terms));
    },
    mayOverlap: (units) => isApplied && isShareable(units),
  };
}

/** Runs work that commits. If its server is found to be replaced after that, the outcome is unknown. */
async function attempt<T extends Committed | undefined>(
  run: (work: (session: Session) => Promise<T>) => Promise<T>,
  work: (session: Session) => Promise<T>,
): Promise<T> {
  let committed: T | undefined;
  try {
    return await run(async (session) => {
      committed = await work(session);
      return committed;
    });
  } catch (error) {
    throw committed && committed.rows.length > 0 ? new UnknownOutcome(error) : error;
  }
}
