import { attemptsKept, type WebhookAttempt } from "../domain/webhooks/webhook.ts";
import { run } from "./statements.ts";
import { attemptColumns, attemptsToAdd } from "./webhook-rows.ts";

const add = `INSERT INTO webhook_attempts (webhook_id, number, ${attemptColumns})
  VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`;
const prune = "DELETE FROM webhook_attempts WHERE webhook_id = $1 AND number <= $2";

/** Adds attempts to the log, numbered up to `last`, and removes the oldest. */
export function* logAttempts(id: string, attempts: readonly WebhookAttempt[], last: number) {
  let number = last - attempts.length;
  for (const { at, messageId, firstSeq, lastSeq, changes, ...result } of attemptsToAdd({
    attempts,
  })) {
    const { durationMs, status, error, answer } = result;
    const sent = [at, messageId, firstSeq, lastSeq, changes, durationMs, status, error, answer];
    yield* run(add, [id, ++number, ...sent]);
  }
  if (attempts.length > 0) yield* run(prune, [id, last - attemptsKept]);
}
