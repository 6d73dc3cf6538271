import type { WebhookStore } from "../domain/webhooks/store.ts";
import { attemptsKept, type WebhookAttempt } from "../domain/webhooks/webhook.ts";
import { note } from "./audit.ts";
import {
  type Dialect,
  ifChanged,
  readAll,
  readFirst,
  run,
  type Script,
  type ScriptsOf,
} from "./statements.ts";
import {
  attemptColumns,
  attemptsToAdd,
  columnsOf,
  toAttempt,
  toWebhook,
  webhookColumns,
} from "./webhook-rows.ts";

export const webhookReads: ScriptsOf<
  WebhookStore,
  "listWebhooks" | "findWebhook" | "listAttempts"
> = {
  listWebhooks: () =>
    readAll(toWebhook, `SELECT ${webhookColumns} FROM webhooks ORDER BY created_at, id`),
  findWebhook: (id) =>
    readFirst(toWebhook, `SELECT ${webhookColumns} FROM webhooks WHERE id = $1`, [id]),
  listAttempts: (id, attemptsMax) =>
    readAll(
      toAttempt,
      `SELECT ${attemptColumns} FROM webhook_attempts WHERE webhook_id = $1
       ORDER BY number DESC LIMIT $2`,
      [id, attemptsMax],
    ),
};

/** Adds attempts to the log, whose last one gets the number `last`, and removes the oldest. */
export function* logAttempts(
  id: string,
  attempts: readonly WebhookAttempt[],
  last: number,
): Script<void> {
  let number = last - attempts.length;
  for (const { at, messageId, firstSeq, lastSeq, changes, ...result } of attempts) {
    const { durationMs, status, error, answer } = result;
    const sent = [at, messageId, firstSeq, lastSeq, changes, durationMs, status, error, answer];
    const text = `INSERT INTO webhook_attempts (webhook_id, number, ${attemptColumns})
      VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`;
    yield* run(text, [id, ++number, ...sent]);
  }
  if (attempts.length === 0) return;
  const prune = "DELETE FROM webhook_attempts WHERE webhook_id = $1 AND number <= $2";
  yield* run(prune, [id, last - attemptsKept]);
}

/** The changes of operators. Each is one transaction. */
export const webhookWrites = (
  dialect: Dialect,
): ScriptsOf<WebhookStore, "addWebhook" | "changeWebhook" | "removeWebhook" | "addAttempt"> => ({
  *addWebhook(webhook, entry) {
    const values = columnsOf(webhook).map(([, value]) => value);
    const numbers = values.map((_, at) => `$${at + 1}`);
    const text = `INSERT INTO webhooks (${webhookColumns}) VALUES (${numbers.join()})`;
    yield* run(text, values);
    yield* note(dialect, entry);
  },
  changeWebhook(id, version, change, entry) {
    const columns = columnsOf(change);
    const assignments = columns.map(([name], at) => `, ${name} = $${at + 3}`);
    const text = `UPDATE webhooks SET version = version + 1${assignments.join("")}
      WHERE id = $1 AND version = $2 RETURNING id`;
    const values = [id, version, ...columns.map(([, value]) => value)];
    return ifChanged(run(text, values), note(dialect, entry));
  },
  *addAttempt(id, attempt, entry) {
    const text = `UPDATE webhooks SET last_attempt = last_attempt + 1 WHERE id = $1
      RETURNING last_attempt`;
    const [row] = yield* run(text, [id]);
    if (!row) return false;
    yield* logAttempts(id, attemptsToAdd({ attempts: [attempt] }), Number(row[0]));
    yield* note(dialect, entry);
    return true;
  },
  /** The log goes with it, by the reference between the tables. */
  removeWebhook: (id, entry) =>
    ifChanged(run("DELETE FROM webhooks WHERE id = $1 RETURNING id", [id]), note(dialect, entry)),
});
