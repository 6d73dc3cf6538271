import type { Database } from "bun:sqlite";
import type { Delivered } from "../../domain/webhooks/store.ts";
import { attemptsKept, type Webhook } from "../../domain/webhooks/webhook.ts";
import { placeholders } from "../tables.ts";
import { attemptColumns, attemptsToAdd, toWebhook, webhookColumns } from "../webhook-rows.ts";
import { inTransaction } from "./engine/connection.ts";

/** Reads which webhooks a process delivers. */
export function createLeaseReader(database: Database) {
  const isUnclaimed = database.query(
    `SELECT 1 FROM webhooks WHERE state = 'active' AND lease_holder IS NOT ? LIMIT 1`,
  );
  const held = database.query(
    `SELECT ${webhookColumns} FROM webhooks WHERE state = 'active' AND lease_holder = ?
     ORDER BY created_at, id`,
  );
  return {
    /** Whether there is an active webhook whose lease the process does not have. */
    hasUnclaimed: (holder: string): boolean => isUnclaimed.values(holder).length > 0,
    listHeld: (holder: string): readonly Webhook[] => held.values(holder).map(toWebhook),
  };
}

/** Writes what the deliveries have done. Each call is one transaction. */
export function createDeliveryWriter(database: Database) {
  const claim = database.query(
    "UPDATE webhooks SET lease_holder = ?1 WHERE state = 'active' AND lease_holder IS NOT ?1",
  );
  const release = database.query("UPDATE webhooks SET lease_holder = NULL WHERE lease_holder = ?");
  const save = database.query(
    `UPDATE webhooks SET cursor_epoch = ?4, cursor_seq = ?5, failures = ?6, failing_since = ?7,
       next_attempt_at = ?8, last_attempt = last_attempt + ?9
     WHERE id = ?1 AND lease_holder = ?2 AND replays = ?3 RETURNING last_attempt`,
  );
  const end = database.query(
    "UPDATE webhooks SET state = ?2, state_reason = ?3 WHERE id = ?1 AND state = 'active'",
  );
  const addAttempt = database.query(
    `INSERT INTO webhook_attempts (webhook_id, number, ${attemptColumns})
     VALUES (?, ?, ${placeholders(attemptColumns)})`,
  );
  const prune = database.query("DELETE FROM webhook_attempts WHERE webhook_id = ? AND number <= ?");

  /** Returns false if the process has lost the lease, or the webhook was replayed. */
  function saveOne(holder: string, delivered: Delivered): boolean {
    const { id, replays, progress, ended } = delivered;
    const attempts = attemptsToAdd(delivered);
    const { cursor, failures, failingSince, nextAttemptAt } = progress;
    const values = [cursor.epoch, cursor.seq, failures, failingSince, nextAttemptAt];
    const [row] = save.values(id, holder, replays, ...values, attempts.length);
    if (!row) return false;
    const lastAttempt = Number(row[0]);
    if (ended) end.run(id, ended.state, ended.reason);
    attempts.forEach((attempt, index) => {
      const number = lastAttempt - attempts.length + index + 1;
      addAttempt.run(
        id,
        number,
        attempt.at,
        attempt.messageId,
        attempt.firstSeq,
        attempt.lastSeq,
        attempt.changes,
        attempt.durationMs,
        attempt.status,
        attempt.error,
        attempt.answer,
      );
    });
    if (attempts.length > 0) prune.run(id, lastAttempt - attemptsKept);
    return true;
  }

  return {
    claimWebhooks: (holder: string): void => void claim.run(holder),
    releaseWebhooks: (holder: string): void => void release.run(holder),
    saveDelivered: inTransaction(
      database,
      (holder: string, delivered: readonly Delivered[]): readonly string[] =>
        delivered.filter((one) => saveOne(holder, one)).map(({ id }) => id),
    ),
  };
}
