import type { EndingSecret, StoreInspection } from "../domain/operations/inspection.ts";
import { keyReads } from "./keys.ts";
import { maintenanceReads } from "./maintenance.ts";
import type { Row } from "./rows.ts";
import { readAll, type ScriptsOf } from "./statements.ts";
import { webhookReads } from "./webhooks.ts";

export const inspectionReads: ScriptsOf<
  StoreInspection,
  "listKeys" | "listEndingSecrets" | "listWebhooks" | "listMaintenance"
> = {
  listKeys: keyReads.listKeys,
  listEndingSecrets: (now) =>
    readAll(
      toEndingSecret,
      `SELECT keys.id, keys.name, secrets.expires_at
       FROM secrets JOIN keys ON keys.id = secrets.key_id
       WHERE keys.revoked_at IS NULL AND secrets.expires_at > $1::int8`,
      [now],
    ),
  listWebhooks: webhookReads.listWebhooks,
  listMaintenance: maintenanceReads.listMaintenance,
};

function toEndingSecret(row: Row): EndingSecret {
  return { keyId: row[0] as string, keyName: row[1] as string, expiresAt: Number(row[2]) };
}
