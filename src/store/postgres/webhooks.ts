import type { WebhookStore } from "../../domain/webhooks/store.ts";
import { attemptsKept } from "../../domain/webhooks/webhook.ts";
import { attemptColumns, attemptsToAdd, toWebhook, webhookColumns } from "../webhook-rows.ts";
import { nowMs } from "./engine/clock.ts";
import type { Query } from "./engine/session.ts";
import { waitForDisk } from "./engine/transaction.ts";

/**
 * $1 is the time or null, $2 the holder, $3 the length of a lease. Every lease is extended: the holder
 * counts on its whole length from the time of the claim. A lease that ends later than one that begins now
 * was given by a clock that was ahead: it is shortened, and stays with its holder, which may be alive. Rows
 * are locked in the order of their ids, so that instances cannot deadlock.
 */
const claimText = `
  WITH due AS (
    SELECT id, ms, CASE WHEN lease_until <= ms THEN $2::text ELSE lease_holder END AS holder
    FROM webhooks, (SELECT ${nowMs} AS ms) AS moment
    WHERE state = 'active'
      AND (lease_holder = $2::text OR lease_until <= ms OR lease_until > ms + $3::int8)
    ORDER BY id FOR UPDATE OF webhooks),
  claimed AS (
    UPDATE webhooks AS one SET lease_holder = holder, lease_until = ms + $3::int8
    FROM due WHERE one.id = due.id
    RETURNING one.*, ${waitForDisk})
  SELECT ${webhookColumns} FROM claimed WHERE lease_holder = $2::text ORDER BY created_at, id`;

const releaseText = `UPDATE webhooks SET lease_holder = NULL, lease_until = 0
  WHERE lease_holder = $1`;

/**
 * $1 is the holder, $2 what was delivered and $3 the attempts, each as JSON, $4 how many attempts a log
 * keeps. An expired lease is still held until another instance takes it: that instance waits for the
 * lock of this statement.
 */
const saveText = `
  WITH held AS (
    SELECT done.* FROM webhooks JOIN json_to_recordset($2::text::json) AS done(
        id text, replays int8, epoch text, seq int8, failures int8, "failingSince" int8,
        "nextAttemptAt" int8, ended text, reason text, attempts int8)
      USING (id)
    WHERE lease_holder = $1::text AND webhooks.replays = done.replays
    ORDER BY id FOR UPDATE OF webhooks),
  saved AS (
    UPDATE webhooks AS one SET
      cursor_epoch = held.epoch, cursor_seq = held.seq, failures = held.failures,
      failing_since = "failingSince", next_attempt_at = "nextAttemptAt",
      last_attempt = last_attempt + held.attempts,
      state = CASE WHEN state = 'active' AND ended IS NOT NULL THEN ended ELSE state END,
      state_reason = CASE WHEN state = 'active' AND ended IS NOT NULL THEN reason
        ELSE state_reason END
    FROM held WHERE one.id = held.id
    RETURNING one.id, last_attempt, ${waitForDisk}),
  pruned AS (
    DELETE FROM webhook_attempts USING saved
    WHERE webhook_id = saved.id AND number <= last_attempt - $4::int8),
  added AS (
    INSERT INTO webhook_attempts (webhook_id, number, ${attemptColumns})
    SELECT saved.id, last_attempt - later, at, "messageId", "firstSeq", "lastSeq", changes,
      "durationMs", status, error, answer
    FROM saved JOIN json_to_recordset($3::text::json) AS made(
        id text, later int8, at int8, "messageId" text, "firstSeq" int8, "lastSeq" int8,
        changes int8, "durationMs" int8, status int8, error text, answer text)
      USING (id))
  SELECT id FROM saved`;

/** Writes what the deliveries have done. Each call is one statement and therefore one transaction. */
export function createDeliveries(
  query: Query,
  now: () => number | null,
): Pick<WebhookStore, "claimWebhooks" | "releaseWebhooks" | "saveDelivered"> {
  return {
    claimWebhooks: async (holder, leaseMs) =>
      (await query(claimText, [now(), holder, leaseMs])).map(toWebhook),
    async releaseWebhooks(holder) {
      await query(releaseText, [holder]);
    },
    async saveDelivered(holder, delivered) {
      if (delivered.length === 0) return [];
      const logs = delivered.map(attemptsToAdd);
      const done = delivered.map(({ id, replays, progress, ended }, index) => ({
        ...{ id, replays, ...progress, ...progress.cursor },
        ...{ ended: ended?.state, reason: ended?.reason, attempts: logs[index]!.length },
      }));
      const made = delivered.flatMap(({ id }, index) =>
        logs[index]!.map((attempt, at, { length }) => ({ ...attempt, id, later: length - 1 - at })),
      );
      const rows = await query(saveText, [
        holder,
        JSON.stringify(done),
        JSON.stringify(made),
        attemptsKept,
      ]);
      const saved = new Set(rows.map(([id]) => id));
      return delivered.flatMap(({ id }) => (saved.has(id) ? [id] : []));
    },
  };
}
