import { readTip } from "./engine/head-lock.ts";
import { type ServerIdentity, timelineNow } from "./engine/primary.ts";
import type { Query } from "./engine/session.ts";

/** $1 is the identity of the database. */
const currentEpoch = `epoch || '-' || $1::text || '.' || ${timelineNow}`;

/** Includes the current epoch if it is not in the table yet. It then starts where the ledger ends. */
const listText = `
  SELECT epoch, from_seq, ${timelineNow} FROM (
    SELECT number, epoch, from_seq FROM epochs
    UNION ALL
    SELECT NULL, name, tip.seq
    FROM (SELECT ${currentEpoch} AS name FROM store WHERE id = 1) AS current, (${readTip}) AS tip
    WHERE NOT EXISTS (SELECT FROM epochs WHERE epoch = name)) AS history
  ORDER BY number NULLS LAST`;

const isUnrecordedText = `
  SELECT tip.seq > 0 AND NOT EXISTS (SELECT FROM epochs WHERE epoch = name)
  FROM (SELECT ${currentEpoch} AS name FROM store WHERE id = 1) AS current, (${readTip}) AS tip`;

/**
 * $1 is the part of the name after the stored epoch, $2 the tip. The number is computed and not
 * generated: a sequence is not part of logical replication, and its copy would start at 1. The head
 * is locked, so no other transaction computes the same number.
 */
const recordText = `
  INSERT INTO epochs (number, epoch, from_seq)
  SELECT (SELECT coalesce(max(number), 0) + 1 FROM epochs), epoch || '-' || $1::text, $2::int8
  FROM store WHERE id = 1
  ON CONFLICT (epoch) DO NOTHING RETURNING number`;

export type Epochs = ReturnType<typeof createEpochs>;

/**
 * The epochs of a store on PostgreSQL. The name of an epoch consists of the epoch that the store was
 * created with, the cluster's identifier, the database's oid and the timeline. A copy of a database
 * has the original's stored epoch, but another oid or cluster. A promoted standby may lack the last
 * commits of its primary, but it has another timeline.
 *
 * The table `epochs` gets a row in the transaction that writes the first ledger row of an epoch, and
 * when a store with rows is opened. A store without ledger rows has no recorded epoch.
 */
export function createEpochs({ system, databaseOid }: ServerIdentity) {
  const identity = `${system}.${databaseOid}`;
  let recordedTimeline = 0;

  return {
    nameOf: (storeEpoch: string, timeline: number) => `${storeEpoch}-${identity}.${timeline}`,
    /** The timeline that is part of an epoch's name. */
    timelineOf: (epoch: string) => Number(epoch.slice(epoch.lastIndexOf(".") + 1)),
    /**
     * Reads every epoch, the current one last: name, start, and the timeline of the server that sent
     * the row. A statement with its parameters, so that it can share a round trip with others.
     */
    listStatement: [listText, [identity]] as const,
    /** Whether the store has ledger rows and the current epoch is not in the table. */
    isUnrecorded: async (query: Query) =>
      (await query(isUnrecordedText, [identity]))[0]![0] === true,
    /** The newest timeline whose epoch is known to be in the table, or 0. */
    get recordedTimeline() {
      return recordedTimeline;
    },
    /**
     * Adds the current epoch to the table, unless this process knows that it is there. Call in each
     * transaction that writes ledger rows, with the head locked and the tip before those rows.
     */
    record(query: Query, timeline: number, tipSeq: number): Promise<void> | undefined {
      if (timeline === recordedTimeline) return undefined;
      return query(recordText, [`${identity}.${timeline}`, tipSeq]).then((added) => {
        // A row that was there before this transaction is committed. A row that was added now may
        // still be rolled back, so the next transaction tries again.
        if (added.length === 0) recordedTimeline = timeline;
      });
    },
  };
}
