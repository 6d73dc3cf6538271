import type { Delivered, WebhookStore } from "../../domain/webhooks/store.ts";
import { readAll, run, type Script, type ScriptsOf } from "../statements.ts";
import { logAttempts } from "../webhook-attempts.ts";
import { attemptsToAdd, toWebhook, webhookColumns } from "../webhook-rows.ts";

export const leaseReads = {
  /** Whether there is an active webhook whose lease the process does not have. */
  *hasUnclaimed(holder: string): Script<boolean> {
    const text = `SELECT 1 FROM webhooks WHERE state = 'active' AND lease_holder IS NOT $1 LIMIT 1`;
    return (yield* run(text, [holder])).length > 0;
  },
  listHeld: (holder: string) =>
    readAll(
      toWebhook,
      `SELECT ${webhookColumns} FROM webhooks WHERE state = 'active' AND lease_holder = $1
       ORDER BY created_at, id`,
      [holder],
    ),
};

const claim = `UPDATE webhooks SET lease_holder = $1
  WHERE state = 'active' AND lease_holder IS NOT $1`;
const release = "UPDATE webhooks SET lease_holder = NULL WHERE lease_holder = $1";
const save = `UPDATE webhooks SET cursor_epoch = $4, cursor_seq = $5, failures = $6,
    failing_since = $7, next_attempt_at = $8, last_attempt = last_attempt + $9
  WHERE id = $1 AND lease_holder = $2 AND replays = $3 RETURNING last_attempt`;
const end = `UPDATE webhooks SET state = $2, state_reason = $3
  WHERE id = $1 AND state = 'active'`;

/** Returns false if the process has lost the lease, or the webhook was replayed. */
function* saveOne(holder: string, delivered: Delivered): Script<boolean> {
  const { id, replays, progress, ended } = delivered;
  const attempts = attemptsToAdd(delivered);
  const { cursor, failures, failingSince, nextAttemptAt } = progress;
  const values = [cursor.epoch, cursor.seq, failures, failingSince, nextAttemptAt];
  const [row] = yield* run(save, [id, holder, replays, ...values, attempts.length]);
  if (!row) return false;
  if (ended) yield* run(end, [id, ended.state, ended.reason]);
  yield* logAttempts(id, attempts, Number(row[0]));
  return true;
}

/** Writes what the deliveries have done. Each is one transaction. */
export const deliveryWrites: ScriptsOf<WebhookStore, "releaseWebhooks" | "saveDelivered"> & {
  claimLeases(holder: string): Script<void>;
} = {
  *claimLeases(holder) {
    yield* run(claim, [holder]);
  },
  *releaseWebhooks(holder) {
    yield* run(release, [holder]);
  },
  *saveDelivered(holder, delivered) {
    const saved: string[] = [];
    for (const one of delivered) if (yield* saveOne(holder, one)) saved.push(one.id);
    return saved;
  },
};
