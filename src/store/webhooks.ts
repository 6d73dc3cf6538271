import type { WebhookStore } from "../domain/webhooks/store.ts";
import { note } from "./audit.ts";
import { type Dialect, ifChanged, readAll, readFirst, run, type ScriptsOf } from "./statements.ts";
import { logAttempts } from "./webhook-attempts.ts";
import { attemptColumns, columnsOf, toAttempt, toWebhook, webhookColumns } from "./webhook-rows.ts";

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
    yield* logAttempts(id, [attempt], Number(row[0]));
    yield* note(dialect, entry);
    return true;
  },
  /** The log goes with it, by the reference between the tables. */
  removeWebhook: (id, entry) =>
    ifChanged(run("DELETE FROM webhooks WHERE id = $1 RETURNING id", [id]), note(dialect, entry)),
});
