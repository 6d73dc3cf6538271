import type { AuditAction } from "../../domain/audit/audit.ts";

/** What the rows of the audit log say, by action. */
export const actionTexts: Readonly<Record<AuditAction, string>> = {
  "key.created": "Created a key",
  "key.changed": "Changed a key",
  "key.rotated": "Rotated a key",
  "key.revoked": "Revoked a key",
  "ban.lifted": "Lifted a ban",
  "webhook.created": "Created a webhook",
  "webhook.rotated": "Rotated a webhook’s secret",
  "webhook.paused": "Paused a webhook",
  "webhook.resumed": "Resumed a webhook",
  "webhook.replayed": "Replayed a webhook",
  "webhook.tested": "Sent a test message",
  "webhook.resent": "Sent a message again",
  "webhook.removed": "Removed a webhook",
  "pet.changed": "Changed the details of a pet",
  "pets.imported": "Imported pets",
  "orders.imported": "Imported orders",
  "session.started": "Signed in",
  "session.ended": "Signed out",
  "backup.made": "Made a backup",
};

/** A later version of the service may know further actions. */
export function textOf(action: string): string {
  return Object.hasOwn(actionTexts, action) ? actionTexts[action as AuditAction] : action;
}
